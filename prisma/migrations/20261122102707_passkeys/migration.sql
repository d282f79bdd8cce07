-- AlterTable
ALTER TABLE "UserFactor" ADD COLUMN     "isBackupEligible" BOOLEAN;

-- CreateTable
CREATE TABLE "PasskeyChallenge" (
    "challenge" BYTEA NOT NULL,
    "holder" TEXT NOT NULL,
    "userId" TEXT,
    "isEnrollment" BOOLEAN NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "PasskeyChallenge_pkey" PRIMARY KEY ("challenge")
);

-- CreateIndex
CREATE INDEX "PasskeyChallenge_holder_idx" ON "PasskeyChallenge"("holder");

-- CreateIndex
CREATE INDEX "PasskeyChallenge_expiresAt_idx" ON "PasskeyChallenge"("expiresAt");
