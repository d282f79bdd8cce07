-- AlterTable
ALTER TABLE "Event" ADD COLUMN     "ip" TEXT,
ADD COLUMN     "userAgent" TEXT;
