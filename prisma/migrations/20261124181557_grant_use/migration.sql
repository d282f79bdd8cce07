-- AlterTable
ALTER TABLE "UserGrant" ADD COLUMN     "lastUsedAt" TIMESTAMPTZ(3);

-- The nodes that serve meanwhile go on writing to these tables, however many rows they have: an index of a table that
-- exists is built CONCURRENTLY. It waits for the transactions that have begun before it, such as a backup's, and keeps
-- nobody else waiting, so that it may wait for longer than other statements. PostgreSQL gets each statement by itself,
-- outside of a transaction.
SET lock_timeout = 0;

-- CreateIndex
CREATE INDEX CONCURRENTLY "Application_origin_id_idx" ON "Application"("origin", "id");

-- CreateIndex
CREATE INDEX CONCURRENTLY "UserGrant_applicationId_id_idx" ON "UserGrant"("applicationId", "id");

-- CreateIndex
CREATE INDEX CONCURRENTLY "UserGrant_applicationId_lastUsedAt_idx" ON "UserGrant"("applicationId", "lastUsedAt");

-- As for every connection that migrates.
SET lock_timeout = '10s';

-- DropIndex
DROP INDEX "UserGrant_applicationId_idx";
