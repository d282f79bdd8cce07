-- The log in parts. A part is a range of positions, and holds a day of events: src/events/parts says how. The table of
-- before becomes the first part. It is not rewritten, and no lock lasts for longer than a rename: the check is there
-- before, so that the attachment reads no row.
--
-- PostgreSQL gets each statement by itself, outside of a transaction.
ALTER TABLE "Event" ADD CONSTRAINT "Event_0_bounds" CHECK ("position" < 1000000000000) NOT VALID;
ALTER TABLE "Event" VALIDATE CONSTRAINT "Event_0_bounds";

-- The parts, the oldest first, but those that were dropped. The last one takes the events of now.
CREATE TABLE "EventPart" (
    "number" INTEGER NOT NULL,
    "begunAt" TIMESTAMPTZ(3) NOT NULL,
    "xid" xid8 NOT NULL,
    "isRest" BOOLEAN NOT NULL DEFAULT false,
    "count" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "EventPart_pkey" PRIMARY KEY ("number")
);

BEGIN;

ALTER TABLE "Event" RENAME TO "Event_0";
ALTER TABLE "Event_0" RENAME CONSTRAINT "Event_pkey" TO "Event_0_pkey";
ALTER INDEX "Event_id_key" RENAME TO "Event_0_id_key";
ALTER INDEX "Event_xid_position_idx" RENAME TO "Event_0_xid_position_idx";
ALTER INDEX "Event_type_xid_position_idx" RENAME TO "Event_0_type_xid_position_idx";
ALTER INDEX "Event_subjectId_xid_position_idx" RENAME TO "Event_0_subjectId_xid_position_idx";
ALTER INDEX "Event_actorId_xid_position_idx" RENAME TO "Event_0_actorId_xid_position_idx";
ALTER INDEX "Event_occurredAt_idx" RENAME TO "Event_0_occurredAt_idx";
ALTER INDEX "Event_otherIds_idx" RENAME TO "Event_0_otherIds_idx";

-- The transaction comes before the position, and so is given out before it.
CREATE TABLE "Event" (
    "xid" xid8 NOT NULL DEFAULT pg_current_xact_id(),
    "position" BIGINT NOT NULL DEFAULT nextval('"Event_position_seq"'),
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "subjectId" TEXT,
    "otherIds" TEXT[],
    "actor" JSONB,
    "actorId" TEXT,
    "data" JSONB NOT NULL,
    "traceId" TEXT,
    "ip" TEXT,
    "userAgent" TEXT,
    "occurredAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Event_pkey" PRIMARY KEY ("position")
) PARTITION BY RANGE ("position");

ALTER SEQUENCE "Event_position_seq" OWNED BY "Event"."position";

-- Each part has a unique index on the id beside these.
CREATE INDEX "Event_xid_position_idx" ON "Event"("xid", "position");
CREATE INDEX "Event_type_xid_position_idx" ON "Event"("type", "xid", "position");
CREATE INDEX "Event_subjectId_xid_position_idx" ON "Event"("subjectId", "xid", "position");
CREATE INDEX "Event_actorId_xid_position_idx" ON "Event"("actorId", "xid", "position");
CREATE INDEX "Event_occurredAt_idx" ON "Event"("occurredAt");
CREATE INDEX "Event_otherIds_idx" ON "Event" USING GIN ("otherIds") WHERE "otherIds" IS NOT NULL;

ALTER TABLE "Event" ATTACH PARTITION "Event_0" FOR VALUES FROM (MINVALUE) TO (1000000000000);
ALTER TABLE "Event_0" DROP CONSTRAINT "Event_0_bounds";

INSERT INTO "EventPart" ("number", "begunAt", "xid") VALUES (0, '1970-01-01', '0');

COMMIT;
