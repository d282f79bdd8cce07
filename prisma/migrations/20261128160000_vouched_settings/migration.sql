-- Whoever left the settings before this was kept counts as somebody who could do everything.
ALTER TABLE "SignInExperience" ADD COLUMN "vouchedSettings" JSONB NOT NULL DEFAULT '{}';
UPDATE "SignInExperience" SET "vouchedSettings" = "settings";
ALTER TABLE "SignInExperience" ADD COLUMN "weakenerScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
