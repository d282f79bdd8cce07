-- What is compared without case is folded alike in every database: lower() alone goes by the database's locale. The
-- indexes of before stay, for the nodes of the version before. What they let through breaks the new ones only in a locale
-- that folds A to Z in its own way. A start finds two such names before it migrates anything.

-- The nodes that serve meanwhile go on writing to these tables, however many rows they have: an index of a table that
-- exists is built CONCURRENTLY. It waits for the transactions that have begun before it, such as a backup's, and keeps
-- nobody else waiting, so that it may wait for longer than other statements. PostgreSQL gets each statement by itself,
-- outside of a transaction.
SET lock_timeout = 0;

-- CreateIndex
CREATE UNIQUE INDEX CONCURRENTLY "User_username_folded_key" ON "User" (lower("username" COLLATE "C"));

-- CreateIndex
CREATE UNIQUE INDEX CONCURRENTLY "User_primaryEmail_folded_key" ON "User" (lower("primaryEmail" COLLATE "C"));

-- CreateIndex
CREATE UNIQUE INDEX CONCURRENTLY "OrganizationInvitation_pending_folded_key" ON "OrganizationInvitation" ("organizationId", lower("invitee" COLLATE "C")) WHERE "status" = 'PENDING';

-- CreateIndex
CREATE INDEX CONCURRENTLY "Verification_recipient_folded_idx" ON "Verification" (lower("recipient" COLLATE "C"));

-- CreateIndex
CREATE INDEX CONCURRENTLY "OneTimeToken_email_folded_idx" ON "OneTimeToken" (lower("email" COLLATE "C"));

-- As for every connection that migrates.
SET lock_timeout = '10s';
