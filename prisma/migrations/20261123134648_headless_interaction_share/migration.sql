-- AlterTable
ALTER TABLE "Interaction" ADD COLUMN     "address" TEXT;

-- CreateIndex
CREATE INDEX "Interaction_address_createdAt_idx" ON "Interaction"("address", "createdAt");
