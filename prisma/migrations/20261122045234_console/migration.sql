-- CreateTable
CREATE TABLE "BuiltIn" (
    "name" TEXT NOT NULL,
    "recordId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "BuiltIn_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "SetupToken" (
    "digest" BYTEA NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "SetupToken_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "ConsoleSession" (
    "id" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "userId" TEXT NOT NULL,
    "providerSessionId" TEXT NOT NULL,
    "grant" TEXT NOT NULL,
    "scopes" TEXT[],
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "lastActiveAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ConsoleSession_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "MinuteCount" (
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "name" TEXT NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "MinuteCount_pkey" PRIMARY KEY ("minute","name")
);

-- CreateIndex
CREATE INDEX "SetupToken_expiresAt_idx" ON "SetupToken"("expiresAt");

-- CreateIndex
CREATE UNIQUE INDEX "ConsoleSession_digest_key" ON "ConsoleSession"("digest");

-- CreateIndex
CREATE INDEX "ConsoleSession_userId_idx" ON "ConsoleSession"("userId");

-- CreateIndex
CREATE INDEX "ConsoleSession_expiresAt_idx" ON "ConsoleSession"("expiresAt");

-- AddForeignKey
ALTER TABLE "ConsoleSession" ADD CONSTRAINT "ConsoleSession_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;
