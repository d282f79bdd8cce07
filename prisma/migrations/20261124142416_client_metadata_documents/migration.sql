-- CreateEnum
CREATE TYPE "ApplicationOrigin" AS ENUM ('ADMINISTRATION', 'METADATA_DOCUMENT', 'DYNAMIC_REGISTRATION');

-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "metadataUrl" TEXT,
ADD COLUMN     "origin" "ApplicationOrigin" NOT NULL DEFAULT 'ADMINISTRATION';

-- CreateTable
CREATE TABLE "MetadataDocument" (
    "applicationId" TEXT NOT NULL,
    "readAt" TIMESTAMPTZ(3) NOT NULL,
    "freshUntil" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "MetadataDocument_pkey" PRIMARY KEY ("applicationId")
);

-- Beside writers: see grant_use. However long the transactions take that it waits for, nobody else waits.
SET lock_timeout = 0;
-- CreateIndex
CREATE UNIQUE INDEX CONCURRENTLY "Application_metadataUrl_key" ON "Application"("metadataUrl");
SET lock_timeout = '10s';

-- AddForeignKey
ALTER TABLE "MetadataDocument" ADD CONSTRAINT "MetadataDocument_applicationId_fkey" FOREIGN KEY ("applicationId") REFERENCES "Application"("id") ON DELETE CASCADE ON UPDATE CASCADE;
