-- The page of consent names the few applications that accept tokens of third parties. Built beside the nodes that write:
-- see grant_use.
SET lock_timeout = 0;

CREATE INDEX CONCURRENTLY "Application_exchangeThirdPartySubjectTokens_idx" ON "Application" ("name") WHERE "exchangeThirdPartySubjectTokens";

SET lock_timeout = '10s';
