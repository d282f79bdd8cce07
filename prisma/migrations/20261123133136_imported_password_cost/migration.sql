-- AlterTable
ALTER TABLE "User" ADD COLUMN     "passwordCost" INTEGER;

-- Digests that were imported before. As the code reckons them, without the blocks of PBKDF2.
UPDATE "User" SET "passwordCost" = ceil(CASE
    WHEN "passwordAlgorithm" = 'Bcrypt' THEN 2 ^ substring("passwordDigest" FROM '^\$2[aby]\$(\d\d)')::int / 17
    WHEN "passwordAlgorithm" = 'PBKDF2' THEN substring("passwordDigest" FROM '^[^$]*\$(?:pbkdf2[^$]*\$)?(?:i=)?(\d+)')::numeric / 1700
    WHEN "passwordAlgorithm" = 'Scrypt' THEN 2 ^ substring("passwordDigest" FROM 'ln=(\d+)')::int
         * substring("passwordDigest" FROM 'r=(\d+)')::int * substring("passwordDigest" FROM 'p=(\d+)')::int / 3000
    WHEN "passwordAlgorithm" LIKE 'Argon2%' THEN substring("passwordDigest" FROM 'm=(\d+)')::numeric
         * substring("passwordDigest" FROM 't=(\d+)')::int / 2700
    ELSE 0 END)
 WHERE "passwordDigest" IS NOT NULL AND "passwordDigest" NOT LIKE '$argon2id$v=19$m=19456,t=2,p=1$%';

CREATE INDEX "User_passwordCost_idx" ON "User" ("passwordCost") WHERE "passwordCost" IS NOT NULL;
