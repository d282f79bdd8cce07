-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "IdentityProvider" ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "Organization" ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "OrganizationRole" ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "OrganizationScope" ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "Resource" ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "Role" ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "Scope" ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "SignInExperience" ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "User" ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "Webhook" ADD COLUMN     "version" INTEGER NOT NULL DEFAULT 1;

-- CreateTable
CREATE TABLE "KeptResult" (
    "id" BYTEA NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "result" BYTEA NOT NULL,
    "scopes" TEXT[],
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "KeptResult_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "KeptResult_expiresAt_idx" ON "KeptResult"("expiresAt");

-- Every recorded change of a record writes its "updatedAt". A trigger, and not the service, raises the version, so that
-- nodes of the version before raise it too.
-- \073 is a semicolon: whoever runs this script splits it at each one.
CREATE FUNCTION "raiseVersion"() RETURNS trigger LANGUAGE plpgsql
  AS E'BEGIN NEW."version" := OLD."version" + 1\073 RETURN NEW\073 END';

CREATE TRIGGER "User_version" BEFORE UPDATE OF "updatedAt" ON "User" FOR EACH ROW EXECUTE FUNCTION "raiseVersion"();
CREATE TRIGGER "Role_version" BEFORE UPDATE OF "updatedAt" ON "Role" FOR EACH ROW EXECUTE FUNCTION "raiseVersion"();
CREATE TRIGGER "Resource_version" BEFORE UPDATE OF "updatedAt" ON "Resource" FOR EACH ROW EXECUTE FUNCTION "raiseVersion"();
CREATE TRIGGER "Scope_version" BEFORE UPDATE OF "updatedAt" ON "Scope" FOR EACH ROW EXECUTE FUNCTION "raiseVersion"();
CREATE TRIGGER "Application_version" BEFORE UPDATE OF "updatedAt" ON "Application" FOR EACH ROW EXECUTE FUNCTION "raiseVersion"();
CREATE TRIGGER "Organization_version" BEFORE UPDATE OF "updatedAt" ON "Organization" FOR EACH ROW EXECUTE FUNCTION "raiseVersion"();
CREATE TRIGGER "OrganizationRole_version" BEFORE UPDATE OF "updatedAt" ON "OrganizationRole" FOR EACH ROW EXECUTE FUNCTION "raiseVersion"();
CREATE TRIGGER "OrganizationScope_version" BEFORE UPDATE OF "updatedAt" ON "OrganizationScope" FOR EACH ROW EXECUTE FUNCTION "raiseVersion"();
CREATE TRIGGER "Webhook_version" BEFORE UPDATE OF "updatedAt" ON "Webhook" FOR EACH ROW EXECUTE FUNCTION "raiseVersion"();
CREATE TRIGGER "IdentityProvider_version" BEFORE UPDATE OF "updatedAt" ON "IdentityProvider" FOR EACH ROW EXECUTE FUNCTION "raiseVersion"();
CREATE TRIGGER "SignInExperience_version" BEFORE UPDATE OF "updatedAt" ON "SignInExperience" FOR EACH ROW EXECUTE FUNCTION "raiseVersion"();
