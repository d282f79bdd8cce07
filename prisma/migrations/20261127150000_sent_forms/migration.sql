-- CreateTable
CREATE TABLE "SentForm" (
    "subject" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "answer" JSONB,
    "sentAt" TIMESTAMPTZ(3) NOT NULL,
    "standsUntil" TIMESTAMPTZ(3),

    CONSTRAINT "SentForm_pkey" PRIMARY KEY ("subject","digest")
);

-- CreateIndex
CREATE INDEX "SentForm_sentAt_idx" ON "SentForm"("sentAt");
