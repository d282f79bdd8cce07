-- By hand, here and at the end: what schema.prisma cannot say.
CREATE EXTENSION IF NOT EXISTS pg_trgm;

-- CreateEnum
CREATE TYPE "RoleType" AS ENUM ('USER', 'MACHINE_TO_MACHINE');

-- CreateEnum
CREATE TYPE "ApplicationType" AS ENUM ('TRADITIONAL', 'MACHINE_TO_MACHINE', 'SPA', 'NATIVE');

-- CreateEnum
CREATE TYPE "InvitationStatus" AS ENUM ('PENDING', 'ACCEPTED', 'EXPIRED', 'REVOKED');

-- CreateEnum
CREATE TYPE "DeliveryStatus" AS ENUM ('PENDING', 'SUCCEEDED', 'FAILED');

-- CreateTable
CREATE TABLE "User" (
    "id" TEXT NOT NULL,
    "username" TEXT,
    "primaryEmail" TEXT,
    "primaryPhone" TEXT,
    "name" TEXT,
    "avatar" TEXT,
    "profile" JSONB NOT NULL DEFAULT '{}',
    "customData" JSONB NOT NULL DEFAULT '{}',
    "isSuspended" BOOLEAN NOT NULL DEFAULT false,
    "passwordDigest" TEXT,
    "passwordAlgorithm" TEXT,
    "tokensValidAfter" TIMESTAMPTZ(3),
    "lastSignInAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "User_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "UserRole" (
    "userId" TEXT NOT NULL,
    "roleId" TEXT NOT NULL,

    CONSTRAINT "UserRole_pkey" PRIMARY KEY ("userId","roleId")
);

-- CreateTable
CREATE TABLE "Resource" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "indicator" TEXT NOT NULL,
    "accessTokenTtlSeconds" INTEGER NOT NULL DEFAULT 3600,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Resource_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Scope" (
    "id" TEXT NOT NULL,
    "resourceId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Scope_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Role" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "type" "RoleType" NOT NULL,
    "isDefault" BOOLEAN NOT NULL DEFAULT false,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Role_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "RoleScope" (
    "roleId" TEXT NOT NULL,
    "scopeId" TEXT NOT NULL,

    CONSTRAINT "RoleScope_pkey" PRIMARY KEY ("roleId","scopeId")
);

-- CreateTable
CREATE TABLE "Application" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "type" "ApplicationType" NOT NULL,
    "allowTokenExchange" BOOLEAN NOT NULL DEFAULT false,
    "exchangeSubjectAudiences" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "exchangeResources" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "redirectUris" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "postLogoutRedirectUris" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "corsAllowedOrigins" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Application_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ApplicationSecret" (
    "id" TEXT NOT NULL,
    "applicationId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "expiresAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ApplicationSecret_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ApplicationRole" (
    "applicationId" TEXT NOT NULL,
    "roleId" TEXT NOT NULL,

    CONSTRAINT "ApplicationRole_pkey" PRIMARY KEY ("applicationId","roleId")
);

-- CreateTable
CREATE TABLE "Organization" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "customData" JSONB NOT NULL DEFAULT '{}',
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Organization_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "OrganizationUser" (
    "organizationId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "OrganizationUser_pkey" PRIMARY KEY ("organizationId","userId")
);

-- CreateTable
CREATE TABLE "OrganizationApplication" (
    "organizationId" TEXT NOT NULL,
    "applicationId" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "OrganizationApplication_pkey" PRIMARY KEY ("organizationId","applicationId")
);

-- CreateTable
CREATE TABLE "OrganizationRole" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "type" "RoleType" NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "OrganizationRole_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "OrganizationScope" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "OrganizationScope_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "OrganizationRoleScope" (
    "organizationRoleId" TEXT NOT NULL,
    "organizationScopeId" TEXT NOT NULL,

    CONSTRAINT "OrganizationRoleScope_pkey" PRIMARY KEY ("organizationRoleId","organizationScopeId")
);

-- CreateTable
CREATE TABLE "OrganizationRoleResourceScope" (
    "organizationRoleId" TEXT NOT NULL,
    "scopeId" TEXT NOT NULL,

    CONSTRAINT "OrganizationRoleResourceScope_pkey" PRIMARY KEY ("organizationRoleId","scopeId")
);

-- CreateTable
CREATE TABLE "OrganizationUserRole" (
    "organizationId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "organizationRoleId" TEXT NOT NULL,

    CONSTRAINT "OrganizationUserRole_pkey" PRIMARY KEY ("organizationId","userId","organizationRoleId")
);

-- CreateTable
CREATE TABLE "OrganizationApplicationRole" (
    "organizationId" TEXT NOT NULL,
    "applicationId" TEXT NOT NULL,
    "organizationRoleId" TEXT NOT NULL,

    CONSTRAINT "OrganizationApplicationRole_pkey" PRIMARY KEY ("organizationId","applicationId","organizationRoleId")
);

-- CreateTable
CREATE TABLE "OrganizationInvitation" (
    "id" TEXT NOT NULL,
    "organizationId" TEXT NOT NULL,
    "invitee" TEXT NOT NULL,
    "status" "InvitationStatus" NOT NULL DEFAULT 'PENDING',
    "acceptedUserId" TEXT,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "OrganizationInvitation_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "OrganizationInvitationRole" (
    "invitationId" TEXT NOT NULL,
    "organizationRoleId" TEXT NOT NULL,

    CONSTRAINT "OrganizationInvitationRole_pkey" PRIMARY KEY ("invitationId","organizationRoleId")
);

-- CreateTable
CREATE TABLE "OrganizationEmailDomain" (
    "organizationId" TEXT NOT NULL,
    "domain" TEXT NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "OrganizationEmailDomain_pkey" PRIMARY KEY ("organizationId","domain")
);

-- CreateTable
CREATE TABLE "OrganizationJitRole" (
    "organizationId" TEXT NOT NULL,
    "organizationRoleId" TEXT NOT NULL,

    CONSTRAINT "OrganizationJitRole_pkey" PRIMARY KEY ("organizationId","organizationRoleId")
);

-- CreateTable
CREATE TABLE "Event" (
    "position" BIGSERIAL NOT NULL,
    "xid" xid8 NOT NULL DEFAULT pg_current_xact_id(),
    "id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "subjectId" TEXT,
    "actor" JSONB,
    "actorId" TEXT,
    "data" JSONB NOT NULL,
    "traceId" TEXT,
    "occurredAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Event_pkey" PRIMARY KEY ("position")
);

-- CreateTable
CREATE TABLE "EventConsumer" (
    "name" TEXT NOT NULL,
    "xid" xid8 NOT NULL,
    "position" BIGINT NOT NULL,

    CONSTRAINT "EventConsumer_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "Webhook" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "events" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "query" TEXT,
    "headers" BYTEA,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "disabledReason" TEXT,
    "maxInFlight" INTEGER NOT NULL DEFAULT 10,
    "grantedScopes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "failingSince" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Webhook_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "WebhookSecret" (
    "id" TEXT NOT NULL,
    "webhookId" TEXT NOT NULL,
    "secret" BYTEA NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3),

    CONSTRAINT "WebhookSecret_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Delivery" (
    "id" TEXT NOT NULL,
    "webhookId" TEXT NOT NULL,
    "eventId" TEXT NOT NULL,
    "eventType" TEXT NOT NULL,
    "status" "DeliveryStatus" NOT NULL DEFAULT 'PENDING',
    "attemptCount" INTEGER NOT NULL DEFAULT 0,
    "nextAttemptAt" TIMESTAMPTZ(3),
    "leasedUntil" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "Delivery_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "DeliveryAttempt" (
    "id" BIGSERIAL NOT NULL,
    "deliveryId" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "durationMs" INTEGER NOT NULL,
    "statusCode" INTEGER,
    "responseBody" TEXT,
    "error" TEXT,

    CONSTRAINT "DeliveryAttempt_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "SigningKey" (
    "id" TEXT NOT NULL,
    "algorithm" TEXT NOT NULL,
    "publicJwk" JSONB NOT NULL,
    "privateJwk" BYTEA NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "retiredAt" TIMESTAMPTZ(3),
    "expiresAt" TIMESTAMPTZ(3),

    CONSTRAINT "SigningKey_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "OidcRecord" (
    "model" TEXT NOT NULL,
    "id" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "grantId" TEXT,
    "uid" TEXT,
    "accountId" TEXT,
    "clientId" TEXT,
    "expiresAt" TIMESTAMPTZ(3),
    "consumedAt" TIMESTAMPTZ(3),

    CONSTRAINT "OidcRecord_pkey" PRIMARY KEY ("model","id")
);

-- CreateTable
CREATE TABLE "RevokedToken" (
    "jti" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "RevokedToken_pkey" PRIMARY KEY ("jti")
);

-- CreateIndex
CREATE UNIQUE INDEX "User_primaryPhone_key" ON "User"("primaryPhone");

-- CreateIndex
CREATE INDEX "User_name_id_idx" ON "User"("name", "id");

-- CreateIndex
CREATE INDEX "User_username_id_idx" ON "User"("username", "id");

-- CreateIndex
CREATE INDEX "User_primaryEmail_id_idx" ON "User"("primaryEmail", "id");

-- CreateIndex
CREATE INDEX "User_lastSignInAt_id_idx" ON "User"("lastSignInAt", "id");

-- CreateIndex
CREATE INDEX "User_updatedAt_id_idx" ON "User"("updatedAt", "id");

-- CreateIndex
CREATE INDEX "User_createdAt_id_idx" ON "User"("createdAt", "id");

-- CreateIndex
CREATE INDEX "User_search_idx" ON "User" USING GIN ("id" gin_trgm_ops, "username" gin_trgm_ops, "primaryEmail" gin_trgm_ops, "primaryPhone" gin_trgm_ops, "name" gin_trgm_ops);

-- CreateIndex
CREATE INDEX "UserRole_roleId_userId_idx" ON "UserRole"("roleId", "userId");

-- CreateIndex
CREATE UNIQUE INDEX "Resource_indicator_key" ON "Resource"("indicator");

-- CreateIndex
CREATE INDEX "Resource_name_id_idx" ON "Resource"("name", "id");

-- CreateIndex
CREATE UNIQUE INDEX "Scope_resourceId_name_key" ON "Scope"("resourceId", "name");

-- CreateIndex
CREATE UNIQUE INDEX "Role_name_key" ON "Role"("name");

-- CreateIndex
CREATE INDEX "Role_type_isDefault_idx" ON "Role"("type", "isDefault");

-- CreateIndex
CREATE INDEX "RoleScope_scopeId_roleId_idx" ON "RoleScope"("scopeId", "roleId");

-- CreateIndex
CREATE INDEX "Application_name_id_idx" ON "Application"("name", "id");

-- CreateIndex
CREATE INDEX "Application_type_id_idx" ON "Application"("type", "id");

-- CreateIndex
CREATE INDEX "Application_createdAt_id_idx" ON "Application"("createdAt", "id");

-- CreateIndex
CREATE INDEX "Application_updatedAt_id_idx" ON "Application"("updatedAt", "id");

-- CreateIndex
CREATE UNIQUE INDEX "ApplicationSecret_applicationId_name_key" ON "ApplicationSecret"("applicationId", "name");

-- CreateIndex
CREATE INDEX "ApplicationRole_roleId_applicationId_idx" ON "ApplicationRole"("roleId", "applicationId");

-- CreateIndex
CREATE INDEX "Organization_name_id_idx" ON "Organization"("name", "id");

-- CreateIndex
CREATE INDEX "Organization_createdAt_id_idx" ON "Organization"("createdAt", "id");

-- CreateIndex
CREATE INDEX "Organization_updatedAt_id_idx" ON "Organization"("updatedAt", "id");

-- CreateIndex
CREATE INDEX "Organization_search_idx" ON "Organization" USING GIN ("id" gin_trgm_ops, "name" gin_trgm_ops, "description" gin_trgm_ops);

-- CreateIndex
CREATE INDEX "OrganizationUser_userId_organizationId_idx" ON "OrganizationUser"("userId", "organizationId");

-- CreateIndex
CREATE INDEX "OrganizationApplication_applicationId_organizationId_idx" ON "OrganizationApplication"("applicationId", "organizationId");

-- CreateIndex
CREATE UNIQUE INDEX "OrganizationRole_name_key" ON "OrganizationRole"("name");

-- CreateIndex
CREATE UNIQUE INDEX "OrganizationScope_name_key" ON "OrganizationScope"("name");

-- CreateIndex
CREATE INDEX "OrganizationRoleScope_organizationScopeId_organizationRoleI_idx" ON "OrganizationRoleScope"("organizationScopeId", "organizationRoleId");

-- CreateIndex
CREATE INDEX "OrganizationRoleResourceScope_scopeId_organizationRoleId_idx" ON "OrganizationRoleResourceScope"("scopeId", "organizationRoleId");

-- CreateIndex
CREATE INDEX "OrganizationUserRole_organizationRoleId_organizationId_idx" ON "OrganizationUserRole"("organizationRoleId", "organizationId");

-- CreateIndex
CREATE INDEX "OrganizationUserRole_userId_idx" ON "OrganizationUserRole"("userId");

-- CreateIndex
CREATE INDEX "OrganizationApplicationRole_organizationRoleId_organization_idx" ON "OrganizationApplicationRole"("organizationRoleId", "organizationId");

-- CreateIndex
CREATE INDEX "OrganizationApplicationRole_applicationId_idx" ON "OrganizationApplicationRole"("applicationId");

-- CreateIndex
CREATE INDEX "OrganizationInvitation_organizationId_id_idx" ON "OrganizationInvitation"("organizationId", "id");

-- CreateIndex
CREATE INDEX "OrganizationInvitation_acceptedUserId_idx" ON "OrganizationInvitation"("acceptedUserId");

-- CreateIndex
CREATE INDEX "OrganizationInvitation_status_expiresAt_idx" ON "OrganizationInvitation"("status", "expiresAt");

-- CreateIndex
CREATE INDEX "OrganizationInvitationRole_organizationRoleId_idx" ON "OrganizationInvitationRole"("organizationRoleId");

-- CreateIndex
CREATE INDEX "OrganizationEmailDomain_domain_idx" ON "OrganizationEmailDomain"("domain");

-- CreateIndex
CREATE INDEX "OrganizationJitRole_organizationRoleId_idx" ON "OrganizationJitRole"("organizationRoleId");

-- CreateIndex
CREATE UNIQUE INDEX "Event_id_key" ON "Event"("id");

-- CreateIndex
CREATE INDEX "Event_xid_position_idx" ON "Event"("xid", "position");

-- CreateIndex
CREATE INDEX "Event_type_xid_position_idx" ON "Event"("type", "xid", "position");

-- CreateIndex
CREATE INDEX "Event_subjectId_xid_position_idx" ON "Event"("subjectId", "xid", "position");

-- CreateIndex
CREATE INDEX "Event_actorId_xid_position_idx" ON "Event"("actorId", "xid", "position");

-- CreateIndex
CREATE INDEX "Event_occurredAt_idx" ON "Event"("occurredAt");

-- CreateIndex
CREATE INDEX "Webhook_enabled_idx" ON "Webhook"("enabled");

-- CreateIndex
CREATE INDEX "WebhookSecret_webhookId_idx" ON "WebhookSecret"("webhookId");

-- CreateIndex
CREATE INDEX "Delivery_webhookId_status_id_idx" ON "Delivery"("webhookId", "status", "id");

-- CreateIndex
CREATE INDEX "Delivery_webhookId_id_idx" ON "Delivery"("webhookId", "id");

-- CreateIndex
CREATE INDEX "Delivery_eventId_idx" ON "Delivery"("eventId");

-- CreateIndex
CREATE INDEX "Delivery_createdAt_idx" ON "Delivery"("createdAt");

-- CreateIndex
CREATE INDEX "DeliveryAttempt_deliveryId_id_idx" ON "DeliveryAttempt"("deliveryId", "id");

-- CreateIndex
CREATE INDEX "SigningKey_createdAt_idx" ON "SigningKey"("createdAt");

-- CreateIndex
CREATE INDEX "OidcRecord_grantId_idx" ON "OidcRecord"("grantId");

-- CreateIndex
CREATE INDEX "OidcRecord_model_uid_idx" ON "OidcRecord"("model", "uid");

-- CreateIndex
CREATE INDEX "OidcRecord_accountId_idx" ON "OidcRecord"("accountId");

-- CreateIndex
CREATE INDEX "OidcRecord_clientId_idx" ON "OidcRecord"("clientId");

-- CreateIndex
CREATE INDEX "OidcRecord_expiresAt_idx" ON "OidcRecord"("expiresAt");

-- CreateIndex
CREATE INDEX "RevokedToken_expiresAt_idx" ON "RevokedToken"("expiresAt");

-- AddForeignKey
ALTER TABLE "UserRole" ADD CONSTRAINT "UserRole_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "UserRole" ADD CONSTRAINT "UserRole_roleId_fkey" FOREIGN KEY ("roleId") REFERENCES "Role"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Scope" ADD CONSTRAINT "Scope_resourceId_fkey" FOREIGN KEY ("resourceId") REFERENCES "Resource"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "RoleScope" ADD CONSTRAINT "RoleScope_roleId_fkey" FOREIGN KEY ("roleId") REFERENCES "Role"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "RoleScope" ADD CONSTRAINT "RoleScope_scopeId_fkey" FOREIGN KEY ("scopeId") REFERENCES "Scope"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ApplicationSecret" ADD CONSTRAINT "ApplicationSecret_applicationId_fkey" FOREIGN KEY ("applicationId") REFERENCES "Application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ApplicationRole" ADD CONSTRAINT "ApplicationRole_applicationId_fkey" FOREIGN KEY ("applicationId") REFERENCES "Application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ApplicationRole" ADD CONSTRAINT "ApplicationRole_roleId_fkey" FOREIGN KEY ("roleId") REFERENCES "Role"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationUser" ADD CONSTRAINT "OrganizationUser_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationUser" ADD CONSTRAINT "OrganizationUser_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationApplication" ADD CONSTRAINT "OrganizationApplication_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationApplication" ADD CONSTRAINT "OrganizationApplication_applicationId_fkey" FOREIGN KEY ("applicationId") REFERENCES "Application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationRoleScope" ADD CONSTRAINT "OrganizationRoleScope_organizationRoleId_fkey" FOREIGN KEY ("organizationRoleId") REFERENCES "OrganizationRole"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationRoleScope" ADD CONSTRAINT "OrganizationRoleScope_organizationScopeId_fkey" FOREIGN KEY ("organizationScopeId") REFERENCES "OrganizationScope"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationRoleResourceScope" ADD CONSTRAINT "OrganizationRoleResourceScope_organizationRoleId_fkey" FOREIGN KEY ("organizationRoleId") REFERENCES "OrganizationRole"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationRoleResourceScope" ADD CONSTRAINT "OrganizationRoleResourceScope_scopeId_fkey" FOREIGN KEY ("scopeId") REFERENCES "Scope"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationUserRole" ADD CONSTRAINT "OrganizationUserRole_organizationId_userId_fkey" FOREIGN KEY ("organizationId", "userId") REFERENCES "OrganizationUser"("organizationId", "userId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationUserRole" ADD CONSTRAINT "OrganizationUserRole_organizationRoleId_fkey" FOREIGN KEY ("organizationRoleId") REFERENCES "OrganizationRole"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationApplicationRole" ADD CONSTRAINT "OrganizationApplicationRole_organizationId_applicationId_fkey" FOREIGN KEY ("organizationId", "applicationId") REFERENCES "OrganizationApplication"("organizationId", "applicationId") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationApplicationRole" ADD CONSTRAINT "OrganizationApplicationRole_organizationRoleId_fkey" FOREIGN KEY ("organizationRoleId") REFERENCES "OrganizationRole"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationInvitation" ADD CONSTRAINT "OrganizationInvitation_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationInvitation" ADD CONSTRAINT "OrganizationInvitation_acceptedUserId_fkey" FOREIGN KEY ("acceptedUserId") REFERENCES "User"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationInvitationRole" ADD CONSTRAINT "OrganizationInvitationRole_invitationId_fkey" FOREIGN KEY ("invitationId") REFERENCES "OrganizationInvitation"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationInvitationRole" ADD CONSTRAINT "OrganizationInvitationRole_organizationRoleId_fkey" FOREIGN KEY ("organizationRoleId") REFERENCES "OrganizationRole"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationEmailDomain" ADD CONSTRAINT "OrganizationEmailDomain_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationJitRole" ADD CONSTRAINT "OrganizationJitRole_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationJitRole" ADD CONSTRAINT "OrganizationJitRole_organizationRoleId_fkey" FOREIGN KEY ("organizationRoleId") REFERENCES "OrganizationRole"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "WebhookSecret" ADD CONSTRAINT "WebhookSecret_webhookId_fkey" FOREIGN KEY ("webhookId") REFERENCES "Webhook"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_webhookId_fkey" FOREIGN KEY ("webhookId") REFERENCES "Webhook"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "DeliveryAttempt" ADD CONSTRAINT "DeliveryAttempt_deliveryId_fkey" FOREIGN KEY ("deliveryId") REFERENCES "Delivery"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- One user name and one e-mail address, whatever their case.
CREATE UNIQUE INDEX "User_username_key" ON "User" (lower("username"));
CREATE UNIQUE INDEX "User_primaryEmail_key" ON "User" (lower("primaryEmail"));

-- Only one invitation of an address to an organization waits at a time.
CREATE UNIQUE INDEX "OrganizationInvitation_pending_key" ON "OrganizationInvitation" ("organizationId", lower("invitee")) WHERE "status" = 'PENDING';

-- Deliveries that are due.
CREATE INDEX "Delivery_due_idx" ON "Delivery" ("nextAttemptAt") WHERE "status" = 'PENDING';
