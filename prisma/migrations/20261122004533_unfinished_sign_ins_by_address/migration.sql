-- AlterTable
ALTER TABLE "OidcRecord" ADD COLUMN     "address" TEXT;

-- CreateIndex
CREATE INDEX "OidcRecord_address_expiresAt_idx" ON "OidcRecord"("address", "expiresAt");
