-- CreateTable
CREATE TABLE "RefusalCount" (
    "type" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "told" JSONB NOT NULL,
    "suppressed" INTEGER NOT NULL,
    "dueAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "RefusalCount_pkey" PRIMARY KEY ("type","kind","name")
);

-- CreateIndex
CREATE INDEX "RefusalCount_dueAt_idx" ON "RefusalCount"("dueAt");
