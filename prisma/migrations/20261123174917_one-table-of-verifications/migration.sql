-- AlterTable
ALTER TABLE "Verification" ADD COLUMN     "session" TEXT,
ADD COLUMN     "userId" TEXT,
ALTER COLUMN "interactionId" DROP NOT NULL,
ALTER COLUMN "purpose" DROP NOT NULL;

-- CreateIndex
CREATE INDEX "Verification_userId_session_idx" ON "Verification"("userId", "session");

-- CreateIndex
CREATE INDEX "Verification_expiresAt_idx" ON "Verification"("expiresAt");

-- AddForeignKey
ALTER TABLE "Verification" ADD CONSTRAINT "Verification_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- It belongs to an interaction, where it has a purpose, or to a session of a user.
ALTER TABLE "Verification" ADD CONSTRAINT "Verification_owner_check" CHECK (
    num_nonnulls("interactionId", "purpose") = 2 AND num_nonnulls("userId", "session") = 0
    OR num_nonnulls("interactionId", "purpose") = 0 AND num_nonnulls("userId", "session") = 2);
-- "ViewerCode" stays for the nodes of the version before, which run beside this one during an upgrade.
