-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "mayRebindTokens" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "requireDpop" BOOLEAN NOT NULL DEFAULT false;
