-- CreateEnum
CREATE TYPE "SecurityProfile" AS ENUM ('NONE', 'FAPI_2_0');

-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "requirePushedAuthorizationRequests" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "securityProfile" "SecurityProfile" NOT NULL DEFAULT 'NONE';
