-- AlterTable
ALTER TABLE "SubjectToken" ADD COLUMN     "origin" TEXT;
