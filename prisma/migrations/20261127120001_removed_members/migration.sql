-- CreateTable
CREATE TABLE "OrganizationDeparture" (
    "organizationId" TEXT NOT NULL,
    "userId" TEXT NOT NULL,
    "leftAt" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "OrganizationDeparture_pkey" PRIMARY KEY ("organizationId","userId")
);

-- CreateIndex
CREATE INDEX "OrganizationDeparture_userId_idx" ON "OrganizationDeparture"("userId");

-- AddForeignKey
ALTER TABLE "OrganizationDeparture" ADD CONSTRAINT "OrganizationDeparture_organizationId_fkey" FOREIGN KEY ("organizationId") REFERENCES "Organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "OrganizationDeparture" ADD CONSTRAINT "OrganizationDeparture_userId_fkey" FOREIGN KEY ("userId") REFERENCES "User"("id") ON DELETE CASCADE ON UPDATE CASCADE;
