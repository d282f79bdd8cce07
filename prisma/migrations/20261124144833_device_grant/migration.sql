-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "allowDeviceGrant" BOOLEAN NOT NULL DEFAULT false;
