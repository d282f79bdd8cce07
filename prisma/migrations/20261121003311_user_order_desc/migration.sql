-- Prisma cannot say where nulls go. Lists have them last whichever way they run.
-- CreateIndex
CREATE INDEX "User_name_desc_idx" ON "User"("name" DESC NULLS LAST, "id" DESC);

-- CreateIndex
CREATE INDEX "User_username_desc_idx" ON "User"("username" DESC NULLS LAST, "id" DESC);

-- CreateIndex
CREATE INDEX "User_primaryEmail_desc_idx" ON "User"("primaryEmail" DESC NULLS LAST, "id" DESC);

-- CreateIndex
CREATE INDEX "User_lastSignInAt_desc_idx" ON "User"("lastSignInAt" DESC NULLS LAST, "id" DESC);
