-- AlterTable
ALTER TABLE "PersonalAccessToken" ADD COLUMN     "clientId" TEXT,
ADD COLUMN     "grantId" TEXT;

-- AddForeignKey: checked once it stands, so that no writer waits while the rows are read.
ALTER TABLE "PersonalAccessToken" ADD CONSTRAINT "PersonalAccessToken_clientId_fkey" FOREIGN KEY ("clientId") REFERENCES "Application"("id") ON DELETE SET NULL ON UPDATE CASCADE NOT VALID;
ALTER TABLE "PersonalAccessToken" VALIDATE CONSTRAINT "PersonalAccessToken_clientId_fkey";

-- AddForeignKey
ALTER TABLE "PersonalAccessToken" ADD CONSTRAINT "PersonalAccessToken_grantId_fkey" FOREIGN KEY ("grantId") REFERENCES "UserGrant"("id") ON DELETE CASCADE ON UPDATE CASCADE NOT VALID;
ALTER TABLE "PersonalAccessToken" VALIDATE CONSTRAINT "PersonalAccessToken_grantId_fkey";

-- Built beside the nodes that write: see spellings_of_resources.
SET lock_timeout = 0;

-- CreateIndex
CREATE INDEX CONCURRENTLY "PersonalAccessToken_clientId_idx" ON "PersonalAccessToken"("clientId");

-- CreateIndex
CREATE INDEX CONCURRENTLY "PersonalAccessToken_grantId_idx" ON "PersonalAccessToken"("grantId");

SET lock_timeout = '10s';
