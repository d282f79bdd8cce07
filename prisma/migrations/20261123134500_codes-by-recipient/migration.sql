-- A new password voids what was sent to the person's addresses, without regard to case.
CREATE INDEX "Verification_recipient_idx" ON "Verification" (lower("recipient"));
CREATE INDEX "OneTimeToken_email_idx" ON "OneTimeToken" (lower("email"));
