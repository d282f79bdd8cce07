-- CreateEnum
CREATE TYPE "TrustedIssuerKind" AS ENUM ('WORKLOAD', 'IDENTITY');

-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "mayActFor" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- AlterTable
ALTER TABLE "SubjectToken" ADD COLUMN     "mayAct" JSONB;

-- CreateTable
CREATE TABLE "TrustedIssuer" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "jwksUri" TEXT NOT NULL,
    "kind" "TrustedIssuerKind" NOT NULL,
    "claimRules" JSONB NOT NULL DEFAULT '[]',
    "applicationId" TEXT NOT NULL,
    "maxLifetimeSeconds" INTEGER NOT NULL DEFAULT 300,
    "requireJti" BOOLEAN NOT NULL DEFAULT true,
    "setterScopes" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "TrustedIssuer_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "CrossAppConnection" (
    "id" TEXT NOT NULL,
    "applicationId" TEXT NOT NULL,
    "issuer" TEXT NOT NULL,
    "clientId" TEXT NOT NULL,
    "scopes" TEXT[],
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "CrossAppConnection_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "TrustedIssuer_issuer_applicationId_idx" ON "TrustedIssuer"("issuer", "applicationId");

-- CreateIndex
CREATE INDEX "TrustedIssuer_applicationId_id_idx" ON "TrustedIssuer"("applicationId", "id");

-- CreateIndex
CREATE INDEX "TrustedIssuer_name_id_idx" ON "TrustedIssuer"("name", "id");

-- CreateIndex
CREATE INDEX "CrossAppConnection_issuer_id_idx" ON "CrossAppConnection"("issuer", "id");

-- CreateIndex
CREATE UNIQUE INDEX "CrossAppConnection_applicationId_issuer_key" ON "CrossAppConnection"("applicationId", "issuer");

-- AddForeignKey
ALTER TABLE "TrustedIssuer" ADD CONSTRAINT "TrustedIssuer_applicationId_fkey" FOREIGN KEY ("applicationId") REFERENCES "Application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "CrossAppConnection" ADD CONSTRAINT "CrossAppConnection_applicationId_fkey" FOREIGN KEY ("applicationId") REFERENCES "Application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- As for every record that has one: see safe_writes.
CREATE TRIGGER "TrustedIssuer_version" BEFORE UPDATE OF "updatedAt" ON "TrustedIssuer" FOR EACH ROW EXECUTE FUNCTION "raiseVersion"();
CREATE TRIGGER "CrossAppConnection_version" BEFORE UPDATE OF "updatedAt" ON "CrossAppConnection" FOR EACH ROW EXECUTE FUNCTION "raiseVersion"();
