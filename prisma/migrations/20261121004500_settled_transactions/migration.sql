-- The line below which nothing more can appear in the event log: the oldest transaction that is in progress and
-- may write to it. Transactions of other databases have ids from the same sequence, and a bulk load there can take
-- an hour, for which pg_snapshot_xmin would have every reader of the log wait.
--
-- One of them is left out only where it is known to run elsewhere: its id is locked by a process that is connected
-- to another database. One that ended since the snapshot was taken cannot be told any more and counts as ours, so
-- that a row which this snapshot does not see is never passed by.
--
-- STABLE, so that it judges by the snapshot of the statement that calls it.
CREATE FUNCTION "signet_settled_xid"() RETURNS xid8 LANGUAGE sql STABLE PARALLEL RESTRICTED AS $$
  SELECT least(
    pg_current_xact_id_if_assigned(),
    pg_snapshot_xmax(pg_current_snapshot()),
    (SELECT min("open"."xid")
       FROM (SELECT pg_snapshot_xip(pg_current_snapshot()) AS "xid") AS "open"
      WHERE NOT EXISTS (
        SELECT 1
          FROM pg_locks AS "lock"
          JOIN pg_stat_activity AS "process" ON "process"."pid" = "lock"."pid"
         WHERE "lock"."locktype" = 'transactionid'
           AND "lock"."mode" = 'ExclusiveLock'
           AND "lock"."granted"
           AND "lock"."transactionid" = "open"."xid"::xid
           AND "process"."datid" <> (SELECT "oid" FROM pg_database WHERE "datname" = current_database()))))
$$;
