-- AlterTable
ALTER TABLE "Interaction" ADD COLUMN     "needsSecondFactor" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "Organization" ADD COLUMN     "requiresFactor" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "User" ADD COLUMN     "enrollmentSkippedAt" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "TotpEnrollment" (
    "holder" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "secret" BYTEA NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "TotpEnrollment_pkey" PRIMARY KEY ("holder")
);

-- CreateIndex
CREATE INDEX "TotpEnrollment_userId_idx" ON "TotpEnrollment"("userId");

-- CreateIndex
CREATE INDEX "TotpEnrollment_expiresAt_idx" ON "TotpEnrollment"("expiresAt");

-- AddForeignKey
ALTER TABLE "TotpEnrollment" ADD CONSTRAINT "TotpEnrollment_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;
