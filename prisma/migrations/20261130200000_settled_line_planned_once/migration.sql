-- The same line as before, by a function that each connection plans once: PostgreSQL plans the body of one in SQL at
-- each call, which took 3 to 4 ms here, with the views of locks and processes in it, and every reader of the log calls
-- it. The views are read only where a process of another database has the transaction: see 20261121004500.
--
-- What the processes do is read at most once in a transaction, and so may be older than the snapshot. It can only
-- make the line lower: that a transaction runs elsewhere is always asked of the locks, too.
--
-- \073 is a semicolon: whoever runs this script splits it at each one.
CREATE OR REPLACE FUNCTION "signet_settled_xid"() RETURNS xid8 LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS E'
DECLARE
  "line" xid8 := least(pg_current_xact_id_if_assigned(), pg_snapshot_xmax(pg_current_snapshot()))\073
  "open" xid8\073
  "here" oid\073
BEGIN
  -- The oldest first.
  FOR "open" IN SELECT pg_snapshot_xip(pg_current_snapshot()) LOOP
    "here" := coalesce("here", (SELECT "oid" FROM pg_database WHERE "datname" = current_database()))\073
    IF NOT EXISTS (
      SELECT 1 FROM pg_stat_get_activity(NULL) AS "process"
       WHERE "process"."backend_xid" = "open"::xid AND "process"."datid" <> "here")
    OR NOT EXISTS (
      SELECT 1
        FROM pg_locks AS "lock"
        JOIN pg_stat_activity AS "process" ON "process"."pid" = "lock"."pid"
       WHERE "lock"."locktype" = ''transactionid''
         AND "lock"."mode" = ''ExclusiveLock''
         AND "lock"."granted"
         AND "lock"."transactionid" = "open"::xid
         AND "process"."datid" <> "here")
    THEN
      RETURN least("line", "open")\073
    END IF\073
  END LOOP\073
  RETURN "line"\073
END';
