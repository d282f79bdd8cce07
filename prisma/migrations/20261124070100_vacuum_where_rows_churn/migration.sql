-- When PostgreSQL removes dead rows. By default it waits until a fifth of a table is dead. docs/operating.md says why
-- these tables need it earlier. The settings lock out neither readers nor writers, and rewrite nothing.

-- A few rows, each written over and over: every reader of the table passes over all that is dead. Half of each page is
-- left free, so that a new version of a row stays on its page and no index grows.
ALTER TABLE "EventConsumer" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE "DeliveryLease" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE "Webhook" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
ALTER TABLE "MinuteCount" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
ALTER TABLE "RefusalCount" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Counters: many rows, each written several times in its minutes of life.
ALTER TABLE "AttemptCount" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE "SendingCount" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE "AddressCount" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- Queues, sessions and what a sign-in leaves: as many rows go as come, and those that are looked for lie among the dead.
ALTER TABLE "Delivery" SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE "Message" SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE "OidcRecord" SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE "Session" SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE "FirstPartySession" SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE "Interaction" SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE "Verification" SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE "RevokedToken" SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE "KeptResult" SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE "OneTimeToken" SET (autovacuum_vacuum_scale_factor = 0.02);
ALTER TABLE "PasskeyChallenge" SET (autovacuum_vacuum_scale_factor = 0.02);
