-- AlterTable
ALTER TABLE "User" ADD COLUMN     "isEmailVerified" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "isPhoneVerified" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "Session" (
    "id" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "applicationIds" TEXT[],
    "ip" TEXT NOT NULL,
    "userAgent" TEXT,
    "authenticationMethods" TEXT[],
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "lastActiveAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Session_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "OneTimeToken" (
    "id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "context" JSONB NOT NULL DEFAULT '{}',
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "OneTimeToken_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "SignInExperience" (
    "id" TEXT NOT NULL,
    "settings" JSONB NOT NULL DEFAULT '{}',
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "SignInExperience_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "AttemptCount" (
    "identifier" BYTEA NOT NULL,
    "check" TEXT NOT NULL,
    "device" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "refused" INTEGER NOT NULL DEFAULT 0,
    "lockedUntil" TIMESTAMPTZ(3),
    "isAnnounced" BOOLEAN NOT NULL DEFAULT false,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "AttemptCount_pkey" PRIMARY KEY ("identifier","check","device")
);

-- CreateTable
CREATE TABLE "SendingCount" (
    "recipient" BYTEA NOT NULL,
    "action" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "SendingCount_pkey" PRIMARY KEY ("recipient","action")
);

-- CreateTable: a crash may forget how often an address asked, so no commit waits for the disk.
CREATE UNLOGGED TABLE "AddressCount" (
    "address" BYTEA NOT NULL,
    "kind" TEXT NOT NULL,
    "count" INTEGER NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "AddressCount_pkey" PRIMARY KEY ("address","kind")
);

-- CreateIndex
CREATE INDEX "Session_userId_id_idx" ON "Session"("userId", "id");

-- CreateIndex
CREATE INDEX "Session_expiresAt_idx" ON "Session"("expiresAt");

-- CreateIndex
CREATE UNIQUE INDEX "OneTimeToken_digest_key" ON "OneTimeToken"("digest");

-- CreateIndex
CREATE INDEX "OneTimeToken_expiresAt_idx" ON "OneTimeToken"("expiresAt");

-- CreateIndex
CREATE INDEX "AttemptCount_expiresAt_idx" ON "AttemptCount"("expiresAt");

-- CreateIndex
CREATE INDEX "SendingCount_expiresAt_idx" ON "SendingCount"("expiresAt");

-- CreateIndex
CREATE INDEX "AddressCount_expiresAt_idx" ON "AddressCount"("expiresAt");

-- AddForeignKey
ALTER TABLE "Session" ADD CONSTRAINT "Session_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;
