-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "allowSecrets" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "jwks" JSONB,
ADD COLUMN     "jwksUri" TEXT,
ADD COLUMN     "keySetterScopes" TEXT[] DEFAULT ARRAY[]::TEXT[];

-- CreateTable
CREATE TABLE "UsedToken" (
    "id" TEXT NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "UsedToken_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "UsedToken_expiresAt_idx" ON "UsedToken"("expiresAt");
