-- AlterTable
ALTER TABLE "Webhook" ADD COLUMN     "creatorId" TEXT;
