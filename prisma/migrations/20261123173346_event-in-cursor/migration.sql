ALTER TABLE "EventConsumer" ADD COLUMN "eventId" TEXT;

-- Cursors given out before this held no event's id. They are taken up to here.
INSERT INTO "EventConsumer" ("name", "xid", "position")
SELECT 'cursors without id', "xid", "position" FROM "Event" ORDER BY "xid" DESC, "position" DESC LIMIT 1;
