-- AlterTable
ALTER TABLE "Webhook" ADD COLUMN     "lastFailureAt" TIMESTAMPTZ(3);
