-- AlterTable
ALTER TABLE "Resource" ADD COLUMN     "canonicalIndicator" TEXT;

-- The nodes that serve meanwhile go on writing to this table: an index of a table that exists is built CONCURRENTLY. It
-- waits for the transactions that have begun before it, such as a backup's, and keeps nobody else waiting, so that it
-- may wait for longer than other statements. Every value is null so far, and stays so in what those nodes write.
-- PostgreSQL gets each statement by itself, outside of a transaction.
SET lock_timeout = 0;

-- CreateIndex
CREATE UNIQUE INDEX CONCURRENTLY "Resource_canonicalIndicator_key" ON "Resource"("canonicalIndicator");

-- As for every connection that migrates.
SET lock_timeout = '10s';
