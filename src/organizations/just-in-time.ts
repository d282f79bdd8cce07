import { z } from 'zod';
import type { Context } from '../auth/context.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { NotFoundError } from '../errors.ts';
import type { Organization } from '../generated/prisma/client.ts';
import { distinct, parseInput, text } from '../input.ts';
import { assertAssignable } from './roles.ts';

// RFC 1035 §2.3.1, with the digits that RFC 1123 §2.1 adds: labels of letters, digits and hyphens, two at least.
const domain = text(253)
  .transform((value) => value.trim().toLowerCase())
  .refine(
    (value) =>
      /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(
        value,
      ),
    'must be a domain name, such as example.com',
  );

const emailDomainInput = z.object({ organizationId: z.string(), domain });

/** An organization and an e-mail domain. */
export type OrganizationEmailDomainInput = z.input<typeof emailDomainInput>;

const domainConflicts = {
  OrganizationEmailDomain_pkey: {
    path: ['domain'],
    message: 'The organization has this domain already.',
  },
};

/**
 * Adds a domain to those whose people join an organization just in time, in lower case.
 *
 * @throws {InvalidInputError} {@link NotFoundError} {@link ConflictError} on `domain`.
 */
export async function addOrganizationEmailDomain(
  context: Context,
  input: OrganizationEmailDomainInput,
): Promise<Organization> {
  const key = parseInput(emailDomainInput, input);
  return refuseConflict(domainConflicts, () =>
    change(context, key.organizationId, async (tx) => {
      await tx.organizationEmailDomain.create({
        data: { ...key, createdAt: context.clock.now() },
      });
    }),
  );
}

/**
 * Takes a domain from those whose people join an organization just in time; members stay.
 *
 * @throws {NotFoundError} of the organization, or of the domain that it does not have.
 */
export async function removeOrganizationEmailDomain(
  context: Context,
  input: OrganizationEmailDomainInput,
): Promise<Organization> {
  const key = { ...input, domain: input.domain.trim().toLowerCase() };
  return change(context, key.organizationId, async (tx) => {
    const { count } = await tx.organizationEmailDomain.deleteMany({ where: key });
    if (count === 0) throw new NotFoundError(input.domain);
  });
}

const jitRolesInput = z.object({
  organizationId: z.string(),
  organizationRoleIds: distinct(z.string(), 100),
});

/** An organization, and the roles that those who join just in time are to get. */
export type OrganizationJitRolesInput = z.input<typeof jitRolesInput>;

/**
 * Sets the organization roles that people get who join just in time, in place of those set before.
 *
 * @throws {InvalidInputError} on roles for applications; {@link NotFoundError} of the organization or a role.
 */
export async function replaceOrganizationJitRoles(
  context: Context,
  input: OrganizationJitRolesInput,
): Promise<Organization> {
  const { organizationId, organizationRoleIds } = parseInput(jitRolesInput, input);
  return change(context, organizationId, async (tx) => {
    await assertAssignable(tx, organizationRoleIds, 'USER');
    await tx.organizationJitRole.deleteMany({
      where: { organizationId, organizationRoleId: { notIn: organizationRoleIds } },
    });
    await tx.organizationJitRole.createMany({
      data: organizationRoleIds.map((organizationRoleId) => ({
        organizationId,
        organizationRoleId,
      })),
      skipDuplicates: true,
    });
  });
}

function change(
  context: Context,
  organizationId: string,
  work: (tx: Transaction) => Promise<void>,
): Promise<Organization> {
  return transaction(context.database, async (tx) => {
    await lockRow(tx, 'Organization', organizationId);
    await work(tx);
    return tx.organization.findUniqueOrThrow({ where: { id: organizationId } });
  });
}
