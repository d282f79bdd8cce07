-- AlterTable
ALTER TABLE "SigningKey" ADD COLUMN     "signsFrom" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "ServiceSettings" (
    "id" TEXT NOT NULL,
    "settings" JSONB NOT NULL DEFAULT '{}',
    "updatedAt" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,

    CONSTRAINT "ServiceSettings_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "KeptKey" (
    "use" TEXT NOT NULL,
    "key" BYTEA NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "KeptKey_pkey" PRIMARY KEY ("use")
);

-- CreateTable
CREATE TABLE "SecretUse" (
    "id" TEXT NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "usedAt" TIMESTAMPTZ(3) NOT NULL,
    "sealedUntil" TIMESTAMPTZ(3) NOT NULL,
    "rewrittenAt" TIMESTAMPTZ(3),

    CONSTRAINT "SecretUse_pkey" PRIMARY KEY ("id")
);

CREATE TRIGGER "ServiceSettings_version" BEFORE UPDATE OF "updatedAt" ON "ServiceSettings" FOR EACH ROW EXECUTE FUNCTION "raiseVersion"();
