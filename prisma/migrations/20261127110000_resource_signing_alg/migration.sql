-- AlterTable
ALTER TABLE "Resource" ADD COLUMN     "signingAlg" TEXT,
ADD COLUMN     "signingAlgBefore" TEXT;
