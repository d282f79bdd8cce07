-- Whoever opened the sign-up before this was kept counts as somebody who could do everything.
ALTER TABLE "SignInExperience" ADD COLUMN "setterScopes" TEXT[] DEFAULT ARRAY['all']::TEXT[];
ALTER TABLE "SignInExperience" ALTER COLUMN "setterScopes" SET DEFAULT ARRAY[]::TEXT[];
