-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "idTokenSigningAlg" TEXT;

-- AlterTable
ALTER TABLE "SigningKey" ADD COLUMN     "forIdTokens" BOOLEAN NOT NULL DEFAULT false;
