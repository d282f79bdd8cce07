-- Finds the pending invitations of an address, whatever the organization. CONCURRENTLY, and without a limit of the wait,
-- as in folded_case.
SET lock_timeout = 0;

-- CreateIndex
CREATE INDEX CONCURRENTLY "OrganizationInvitation_invitee_folded_idx" ON "OrganizationInvitation" (lower("invitee" COLLATE "C")) WHERE "status" = 'PENDING';

-- As for every connection that migrates.
SET lock_timeout = '10s';
