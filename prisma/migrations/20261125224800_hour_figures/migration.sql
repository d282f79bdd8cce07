-- Figures by hour, which are kept for longer than those by minute, and who was active, as a sketch that can be merged.
ALTER TABLE "MinuteCount" ADD COLUMN "people" BIT(16384);

-- CreateTable
CREATE TABLE "HourCount" (
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "name" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "people" BIT(16384),

    CONSTRAINT "HourCount_pkey" PRIMARY KEY ("hour","name")
);

-- As "MinuteCount": a few rows, each written over and over.
ALTER TABLE "HourCount" SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- What the minutes of the last week know: at most some ten thousand rows. Hours do not depend on the zone of the session.
INSERT INTO "HourCount" ("hour", "name", "count")
SELECT date_trunc('hour', "minute", 'UTC'), "name", sum("count")
  FROM "MinuteCount" GROUP BY 1, 2;
