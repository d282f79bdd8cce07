-- CreateTable
CREATE TABLE "Node" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "startedAt" TIMESTAMPTZ(3) NOT NULL,
    "seenAt" TIMESTAMPTZ(3) NOT NULL,
    "shared" JSONB NOT NULL,
    "secrets" TEXT[],

    CONSTRAINT "Node_pkey" PRIMARY KEY ("id")
);
