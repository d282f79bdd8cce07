-- AlterTable
ALTER TABLE "Delivery" DROP COLUMN "leasedUntil";

-- CreateTable: a claim that a crash forgets is as one that has run out, so no commit waits for the disk.
CREATE UNLOGGED TABLE "DeliveryLease" (
    "webhookId" TEXT NOT NULL,
    "node" TEXT NOT NULL,
    "deliveryIds" TEXT[],
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "DeliveryLease_pkey" PRIMARY KEY ("webhookId","node")
);
