-- AlterTable
ALTER TABLE "Delivery" ADD COLUMN     "changedIn" xid8 NOT NULL DEFAULT pg_current_xact_id();

-- CreateIndex
CREATE INDEX "Delivery_webhookId_changedIn_id_idx" ON "Delivery"("webhookId", "changedIn", "id");
