-- AlterTable
ALTER TABLE "Delivery" ADD COLUMN     "queryResult" TEXT,
ADD COLUMN     "testEvent" JSONB;

-- AlterTable
ALTER TABLE "Webhook" ADD COLUMN     "revision" INTEGER NOT NULL DEFAULT 1;

-- CreateTable
CREATE TABLE "WebhookPeriod" (
    "id" BIGSERIAL NOT NULL,
    "webhookId" TEXT NOT NULL,
    "events" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "since" pg_snapshot NOT NULL,
    "until" pg_snapshot,

    CONSTRAINT "WebhookPeriod_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "WebhookPeriod_webhookId_idx" ON "WebhookPeriod"("webhookId");

-- AddForeignKey
ALTER TABLE "WebhookPeriod" ADD CONSTRAINT "WebhookPeriod_webhookId_fkey" FOREIGN KEY ("webhookId") REFERENCES "Webhook"("id") ON DELETE CASCADE ON UPDATE CASCADE;


-- Deliveries that are due, webhook by webhook, those that a node has claimed, and tests, which go out even where
-- the webhook is off.
DROP INDEX "Delivery_due_idx";
CREATE INDEX "Delivery_due_idx" ON "Delivery" ("webhookId", "nextAttemptAt", "id") WHERE "status" = 'PENDING';
CREATE INDEX "Delivery_leased_idx" ON "Delivery" ("webhookId", "leasedUntil") WHERE "leasedUntil" IS NOT NULL;
CREATE INDEX "Delivery_test_idx" ON "Delivery" ("webhookId") WHERE "status" = 'PENDING' AND "testEvent" IS NOT NULL;
