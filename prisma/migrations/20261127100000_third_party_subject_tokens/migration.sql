-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "exchangeThirdPartySubjectTokens" BOOLEAN NOT NULL DEFAULT false;
