-- CreateEnum
CREATE TYPE "IdentityProviderKind" AS ENUM ('SOCIAL', 'ENTERPRISE');

-- AlterTable
ALTER TABLE "Interaction" ADD COLUMN     "error" TEXT;

-- CreateTable
CREATE TABLE "UserIdentity" (
    "id" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "identityProviderId" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "email" TEXT,
    "linkedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "UserIdentity_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "OrganizationIdentityProvider" (
    "organizationId" TEXT NOT NULL,
    "identityProviderId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "OrganizationIdentityProvider_pkey" PRIMARY KEY ("organizationId","identityProviderId")
);

-- CreateTable
CREATE TABLE "IdentityProvider" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "kind" "IdentityProviderKind" NOT NULL,
    "issuer" TEXT NOT NULL,
    "clientId" TEXT NOT NULL,
    "clientSecret" BYTEA,
    "scopes" TEXT[],
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "IdentityProvider_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "IdentityProviderEmailDomain" (
    "domain" TEXT NOT NULL,
    "identityProviderId" TEXT NOT NULL,

    CONSTRAINT "IdentityProviderEmailDomain_pkey" PRIMARY KEY ("domain")
);

-- CreateTable
CREATE TABLE "Federation" (
    "digest" BYTEA NOT NULL,
    "identityProviderId" TEXT NOT NULL,
    "interactionId" TEXT,
    "userId" TEXT,
    "clientId" TEXT,
    "nonce" TEXT NOT NULL,
    "codeVerifier" BYTEA NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Federation_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "Newcomer" (
    "interactionId" TEXT NOT NULL,
    "identityProviderId" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "email" TEXT,
    "isEmailVerified" BOOLEAN NOT NULL,
    "name" TEXT,
    "avatar" TEXT,
    "confirmation" BYTEA,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Newcomer_pkey" PRIMARY KEY ("interactionId")
);

-- CreateIndex
CREATE INDEX "UserIdentity_userId_id_idx" ON "UserIdentity"("userId", "id");

-- CreateIndex
CREATE INDEX "UserIdentity_identityProviderId_userId_idx" ON "UserIdentity"("identityProviderId", "userId");

-- CreateIndex
CREATE UNIQUE INDEX "UserIdentity_issuer_subject_key" ON "UserIdentity"("issuer", "subject");

-- CreateIndex
CREATE INDEX "OrganizationIdentityProvider_identityProviderId_idx" ON "OrganizationIdentityProvider"("identityProviderId");

-- CreateIndex
CREATE INDEX "IdentityProvider_name_id_idx" ON "IdentityProvider"("name", "id");

-- CreateIndex
CREATE INDEX "IdentityProviderEmailDomain_identityProviderId_domain_idx" ON "IdentityProviderEmailDomain"("identityProviderId", "domain");

-- CreateIndex
CREATE INDEX "Federation_identityProviderId_idx" ON "Federation"("identityProviderId");

-- CreateIndex
CREATE INDEX "Federation_interactionId_idx" ON "Federation"("interactionId");

-- CreateIndex
CREATE INDEX "Federation_userId_idx" ON "Federation"("userId");

-- CreateIndex
CREATE INDEX "Federation_expiresAt_idx" ON "Federation"("expiresAt");

-- CreateIndex
CREATE UNIQUE INDEX "Newcomer_confirmation_key" ON "Newcomer"("confirmation");

-- CreateIndex
CREATE INDEX "Newcomer_identityProviderId_idx" ON "Newcomer"("identityProviderId");

-- AddForeignKey
ALTER TABLE "UserIdentity" ADD CONSTRAINT "UserIdentity_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "UserIdentity" ADD CONSTRAINT "UserIdentity_identityProviderId_fkey" FOREIGN KEY ("identityProviderId") REFERENCES "IdentityProvider"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationIdentityProvider" ADD CONSTRAINT "OrganizationIdentityProvider_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationIdentityProvider" ADD CONSTRAINT "OrganizationIdentityProvider_identityProviderId_fkey" FOREIGN KEY ("identityProviderId") REFERENCES "IdentityProvider"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "IdentityProviderEmailDomain" ADD CONSTRAINT "IdentityProviderEmailDomain_identityProviderId_fkey" FOREIGN KEY ("identityProviderId") REFERENCES "IdentityProvider"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Federation" ADD CONSTRAINT "Federation_identityProviderId_fkey" FOREIGN KEY ("identityProviderId") REFERENCES "IdentityProvider"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Federation" ADD CONSTRAINT "Federation_interactionId_fkey" FOREIGN KEY ("interactionId") REFERENCES "Interaction"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Federation" ADD CONSTRAINT "Federation_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Newcomer" ADD CONSTRAINT "Newcomer_interactionId_fkey" FOREIGN KEY ("interactionId") REFERENCES "Interaction"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Newcomer" ADD CONSTRAINT "Newcomer_identityProviderId_fkey" FOREIGN KEY ("identityProviderId") REFERENCES "IdentityProvider"("id") ON DELETE CASCADE ON UPDATE CASCADE;
