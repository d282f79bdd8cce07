-- CreateTable
CREATE TABLE "ViewerProof" (
    "session" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "provedAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ViewerProof_pkey" PRIMARY KEY ("session")
);

-- CreateTable
CREATE TABLE "ViewerCode" (
    "id" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "session" TEXT NOT NULL,
    "type" "AddressType" NOT NULL,
    "recipient" TEXT NOT NULL,
    "codes" JSONB NOT NULL DEFAULT '[]',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "verifiedAt" TIMESTAMPTZ(3),
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ViewerCode_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "ViewerProof_userId_idx" ON "ViewerProof"("userId");

-- CreateIndex
CREATE INDEX "ViewerProof_provedAt_idx" ON "ViewerProof"("provedAt");

-- CreateIndex
CREATE INDEX "ViewerCode_userId_session_idx" ON "ViewerCode"("userId", "session");

-- CreateIndex
CREATE INDEX "ViewerCode_expiresAt_idx" ON "ViewerCode"("expiresAt");

-- AddForeignKey
ALTER TABLE "ViewerProof" ADD CONSTRAINT "ViewerProof_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ViewerCode" ADD CONSTRAINT "ViewerCode_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;
