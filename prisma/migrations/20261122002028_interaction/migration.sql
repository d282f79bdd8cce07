-- CreateEnum
CREATE TYPE "InteractionEvent" AS ENUM ('SIGN_IN', 'REGISTER', 'RESET_PASSWORD');

-- CreateEnum
CREATE TYPE "AddressType" AS ENUM ('EMAIL', 'PHONE');

-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "allowHeadlessSignIn" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "Interaction" (
    "id" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "applicationId" TEXT NOT NULL,
    "event" "InteractionEvent" NOT NULL DEFAULT 'SIGN_IN',
    "request" JSONB,
    "restartUrl" TEXT,
    "identifier" TEXT,
    "userId" TEXT,
    "authenticationMethods" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "authenticatedAt" TIMESTAMPTZ(3),
    "hasRegistered" BOOLEAN NOT NULL DEFAULT false,
    "submittedAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Interaction_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Verification" (
    "id" TEXT NOT NULL,
    "interactionId" TEXT NOT NULL,
    "purpose" "InteractionEvent" NOT NULL,
    "type" "AddressType" NOT NULL,
    "recipient" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "verifiedAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Verification_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "VerificationCode" (
    "id" BIGSERIAL NOT NULL,
    "verificationId" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "VerificationCode_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "Interaction_digest_key" ON "Interaction"("digest");

-- CreateIndex
CREATE INDEX "Interaction_applicationId_idx" ON "Interaction"("applicationId");

-- CreateIndex
CREATE INDEX "Interaction_userId_idx" ON "Interaction"("userId");

-- CreateIndex
CREATE INDEX "Interaction_expiresAt_idx" ON "Interaction"("expiresAt");

-- CreateIndex
CREATE INDEX "Verification_interactionId_idx" ON "Verification"("interactionId");

-- CreateIndex
CREATE INDEX "VerificationCode_verificationId_idx" ON "VerificationCode"("verificationId");

-- AddForeignKey
ALTER TABLE "Interaction" ADD CONSTRAINT "Interaction_applicationId_fkey" FOREIGN KEY ("applicationId") REFERENCES "Application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Interaction" ADD CONSTRAINT "Interaction_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Verification" ADD CONSTRAINT "Verification_interactionId_fkey" FOREIGN KEY ("interactionId") REFERENCES "Interaction"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "VerificationCode" ADD CONSTRAINT "VerificationCode_verificationId_fkey" FOREIGN KEY ("verificationId") REFERENCES "Verification"("id") ON DELETE CASCADE ON UPDATE CASCADE;
