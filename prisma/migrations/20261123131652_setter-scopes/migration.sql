-- What was set up before this was kept counts as set up by somebody who could do everything. From now on a row that
-- is written without it gives nothing.
ALTER TABLE "ApplicationRole" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "ApplicationRole" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "ApplicationSecret" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "ApplicationSecret" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "IdentityProvider" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "IdentityProvider" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "MessageSender" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "MessageSender" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "OneTimeToken" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "OneTimeToken" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "OrganizationApplicationRole" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "OrganizationApplicationRole" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "OrganizationEmailDomain" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "OrganizationEmailDomain" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "OrganizationIdentityProvider" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "OrganizationIdentityProvider" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "OrganizationInvitation" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "OrganizationInvitation" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "OrganizationJitRole" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "OrganizationJitRole" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "OrganizationUserRole" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "OrganizationUserRole" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "Role" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "Role" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "User" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "User" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "UserRole" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "UserRole" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];
ALTER TABLE "Verification" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "Verification" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];

-- Whoever last set the redirect URIs is known only as somebody who could do everything, or not.
ALTER TABLE "Application" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY[]::TEXT[];
UPDATE "Application" SET "setterScopes" = CASE WHEN "managementWithoutConsent" THEN ARRAY['all'] ELSE ARRAY[]::TEXT[] END;
-- "managementWithoutConsent" stays for the nodes of the version before, which run beside this one during an upgrade.
