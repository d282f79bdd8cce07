-- AlterTable
ALTER TABLE "Event" ADD COLUMN     "otherIds" TEXT[];

-- Events that name no other record cost it nothing.
CREATE INDEX "Event_otherIds_idx" ON "Event" USING GIN ("otherIds") WHERE "otherIds" IS NOT NULL;
