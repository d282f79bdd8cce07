-- The account pages keep their sessions where the console does.
ALTER TABLE "ConsoleSession" RENAME TO "FirstPartySession";
ALTER TABLE "FirstPartySession" RENAME CONSTRAINT "ConsoleSession_pkey" TO "FirstPartySession_pkey";
ALTER TABLE "FirstPartySession" RENAME CONSTRAINT "ConsoleSession_userId_fkey" TO "FirstPartySession_userId_fkey";
ALTER INDEX "ConsoleSession_digest_key" RENAME TO "FirstPartySession_digest_key";
ALTER INDEX "ConsoleSession_userId_idx" RENAME TO "FirstPartySession_userId_idx";
ALTER INDEX "ConsoleSession_expiresAt_idx" RENAME TO "FirstPartySession_expiresAt_idx";

ALTER TABLE "FirstPartySession" ADD COLUMN "applicationId" TEXT NOT NULL DEFAULT 'app_0000000000000000000c0ns01e';
ALTER TABLE "FirstPartySession" ALTER COLUMN "applicationId" DROP DEFAULT;
