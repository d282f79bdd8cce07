-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "requirePkce" BOOLEAN NOT NULL DEFAULT true;
