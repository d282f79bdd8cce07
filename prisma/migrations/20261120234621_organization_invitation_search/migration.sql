-- CreateIndex
CREATE INDEX "OrganizationInvitation_search_idx" ON "OrganizationInvitation" USING GIN ("invitee" gin_trgm_ops);
