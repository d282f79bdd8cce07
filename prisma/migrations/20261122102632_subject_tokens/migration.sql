-- AlterTable
ALTER TABLE "Application" ADD COLUMN     "allowImpersonation" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "allowPersonalAccessTokens" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "SubjectToken" (
    "id" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "applicationId" TEXT,
    "digest" BYTEA NOT NULL,
    "reason" TEXT NOT NULL,
    "context" JSONB NOT NULL DEFAULT '{}',
    "actor" JSONB NOT NULL,
    "act" JSONB NOT NULL,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "usedAt" TIMESTAMPTZ(3),
    "usedById" TEXT,

    CONSTRAINT "SubjectToken_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "PersonalAccessToken" (
    "id" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "scope" TEXT,
    "resource" TEXT,
    "createdAt" TIMESTAMPTZ(3) NOT NULL,
    "expiresAt" TIMESTAMPTZ(3) NOT NULL,
    "lastUsedAt" TIMESTAMPTZ(3),

    CONSTRAINT "PersonalAccessToken_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "SubjectToken_digest_key" ON "SubjectToken"("digest");

-- CreateIndex
CREATE INDEX "SubjectToken_userId_id_idx" ON "SubjectToken"("userId", "id");

-- CreateIndex
CREATE INDEX "SubjectToken_applicationId_idx" ON "SubjectToken"("applicationId");

-- CreateIndex
CREATE INDEX "SubjectToken_expiresAt_idx" ON "SubjectToken"("expiresAt");

-- CreateIndex
CREATE UNIQUE INDEX "PersonalAccessToken_digest_key" ON "PersonalAccessToken"("digest");

-- CreateIndex
CREATE INDEX "PersonalAccessToken_userId_id_idx" ON "PersonalAccessToken"("userId", "id");

-- CreateIndex
CREATE INDEX "PersonalAccessToken_expiresAt_idx" ON "PersonalAccessToken"("expiresAt");

-- CreateIndex
CREATE UNIQUE INDEX "PersonalAccessToken_userId_name_key" ON "PersonalAccessToken"("userId", "name");

-- AddForeignKey
ALTER TABLE "SubjectToken" ADD CONSTRAINT "SubjectToken_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "SubjectToken" ADD CONSTRAINT "SubjectToken_applicationId_fkey" FOREIGN KEY ("applicationId") REFERENCES "Application"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "PersonalAccessToken" ADD CONSTRAINT "PersonalAccessToken_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;
