-- CreateEnum
CREATE TYPE "FactorType" AS ENUM ('TOTP', 'PASSKEY', 'BACKUP_CODES');

-- CreateTable
CREATE TABLE "UserFactor" (
    "id" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "type" "FactorType" NOT NULL,
    "name" TEXT,
    "secret" BYTEA,
    "lastStep" BIGINT,
    "credentialId" BYTEA,
    "publicKey" BYTEA,
    "signCount" BIGINT,
    "transports" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "isBackedUp" BOOLEAN,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "lastUsedAt" TIMESTAMPTZ(3),

    CONSTRAINT "UserFactor_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "BackupCode" (
    "factorId" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,

    CONSTRAINT "BackupCode_pkey" PRIMARY KEY ("factorId","digest")
);

-- CreateIndex
CREATE UNIQUE INDEX "UserFactor_credentialId_key" ON "UserFactor"("credentialId");

-- CreateIndex
CREATE INDEX "UserFactor_userId_id_idx" ON "UserFactor"("userId", "id");

-- AddForeignKey
ALTER TABLE "UserFactor" ADD CONSTRAINT "UserFactor_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "BackupCode" ADD CONSTRAINT "BackupCode_factorId_fkey" FOREIGN KEY ("factorId") REFERENCES "UserFactor"("id") ON DELETE CASCADE ON UPDATE CASCADE;
