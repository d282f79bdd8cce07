-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "refreshTokenReuseSeconds" INTEGER NOT NULL DEFAULT 30;
