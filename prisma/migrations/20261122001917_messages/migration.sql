-- CreateEnum
CREATE TYPE "MessageChannel" AS ENUM ('EMAIL', 'SMS');

-- CreateEnum
CREATE TYPE "MessageStatus" AS ENUM ('PENDING', 'SENT', 'FAILED', 'EXPIRED');

-- CreateEnum
CREATE TYPE "MessageSenderKind" AS ENUM ('SMTP', 'HTTP');

-- CreateTable
CREATE TABLE "Message" (
    "id" TEXT NOT NULL,
    "channel" "MessageChannel" NOT NULL,
    "recipient" TEXT NOT NULL,
    "template" TEXT NOT NULL,
    "language" TEXT NOT NULL,
    "content" BYTEA,
    "status" "MessageStatus" NOT NULL DEFAULT 'PENDING',
    "attemptCount" INTEGER NOT NULL DEFAULT 0,
    "nextAttemptAt" TIMESTAMPTZ(3),
    "error" TEXT,
    "leasedBy" TEXT,
    "leasedUntil" TIMESTAMPTZ(3),
    "traceId" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "sentAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Message_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "MessageSender" (
    "channel" "MessageChannel" NOT NULL,
    "kind" "MessageSenderKind" NOT NULL,
    "settings" JSONB NOT NULL,
    "secret" BYTEA,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "MessageSender_pkey" PRIMARY KEY ("channel")
);

-- CreateIndex
CREATE INDEX "Message_createdAt_idx" ON "Message"("createdAt");

-- The queue: what has not ended. Prisma knows no partial index.
CREATE INDEX "Message_due_idx" ON "Message"("channel", "nextAttemptAt", "id") WHERE "nextAttemptAt" IS NOT NULL;

-- CreateIndex
CREATE INDEX "Message_expiring_idx" ON "Message"("expiresAt") WHERE "nextAttemptAt" IS NOT NULL;
