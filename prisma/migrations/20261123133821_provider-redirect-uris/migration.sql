-- CreateEnum
CREATE TYPE "RedirectUriState" AS ENUM ('OWN', 'SHARED', 'TO_REGISTER');

-- AlterTable
ALTER TABLE "Federation" ADD COLUMN     "redirectUri" TEXT;

-- AlterTable
ALTER TABLE "IdentityProvider" ADD COLUMN     "redirectUriState" "RedirectUriState" NOT NULL DEFAULT 'SHARED';
