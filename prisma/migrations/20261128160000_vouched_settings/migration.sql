ALTER TABLE "SignInExperience" ADD COLUMN "vouchedSettings" JSONB;
ALTER TABLE "SignInExperience" ADD COLUMN "weakenerScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
