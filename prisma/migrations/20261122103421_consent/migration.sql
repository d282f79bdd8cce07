-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "isThirdParty" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "managementWithoutConsent" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "Interaction" ADD COLUMN     "consentedAt" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "UserGrant" (
    "id" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "applicationId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "UserGrant_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "UserGrantScope" (
    "grantId" TEXT NOT NULL,
    "resource" TEXT NOT NULL,
    "name" TEXT NOT NULL,

    CONSTRAINT "UserGrantScope_pkey" PRIMARY KEY ("grantId","resource","name")
);

-- CreateIndex
CREATE INDEX "UserGrant_userId_id_idx" ON "UserGrant"("userId", "id");

-- CreateIndex
CREATE INDEX "UserGrant_applicationId_idx" ON "UserGrant"("applicationId");

-- CreateIndex
CREATE UNIQUE INDEX "UserGrant_userId_applicationId_key" ON "UserGrant"("userId", "applicationId");

-- AddForeignKey
ALTER TABLE "UserGrant" ADD CONSTRAINT "UserGrant_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "UserGrant" ADD CONSTRAINT "UserGrant_applicationId_fkey" FOREIGN KEY ("applicationId") REFERENCES "Application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "UserGrantScope" ADD CONSTRAINT "UserGrantScope_grantId_fkey" FOREIGN KEY ("grantId") REFERENCES "UserGrant"("id") ON DELETE CASCADE ON UPDATE CASCADE;
