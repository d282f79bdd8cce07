import { z } from 'zod';
import { assertMayGive } from '../auth/granting.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { NotFoundError } from '../errors.ts';
import { recordEvents } from '../events/record.ts';
import type { Organization, Prisma } from '../generated/prisma/client.ts';
import { distinct, emailDomain, parseInput } from '../input.ts';
import { assertAssignable } from '../organization-roles/operations.ts';
import type { Context } from '../services.ts';
import { addMembers } from './members.ts';
import { membershipData } from './payload.ts';

const emailDomainInput = z.object({ organizationId: z.string(), domain: emailDomain });

/** An organization and an e-mail domain. */
export type OrganizationEmailDomainInput = z.input<typeof emailDomainInput>;

const domainConflicts = {
  OrganizationEmailDomain_pkey: {
    path: ['domain'],
    message: 'The organization has this domain already.',
  },
};

/**
 * Adds an e-mail domain, in lower case, whose people join an organization just in time.
 *
 * @throws {InvalidInputError} {@link NotFoundError} {@link ConflictError} on `domain`; {@link NotAllowedError} when
 *   they would get more than the caller holds.
 */
export async function addOrganizationEmailDomain(
  context: Context,
  input: OrganizationEmailDomainInput,
): Promise<Organization> {
  const key = parseInput(emailDomainInput, input);
  return refuseConflict(domainConflicts, () =>
    change(context, key.organizationId, async (tx) => {
      await assertMayGiveJitRoles(tx, context, key.organizationId);
      await tx.organizationEmailDomain.create({
        data: { ...key, createdAt: context.clock.now() },
      });
    }),
  );
}

/**
 * Removes an e-mail domain whose people join an organization just in time; members stay.
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

/** An organization, and the roles of people who join just in time. */
export type OrganizationJitRolesInput = z.input<typeof jitRolesInput>;

/**
 * Sets the organization roles of people who join just in time; earlier settings are replaced.
 *
 * @throws {InvalidInputError} on roles for applications; {@link NotFoundError} of the organization or a role;
 *   {@link NotAllowedError} when the roles hold more than the caller.
 */
export async function replaceOrganizationJitRoles(
  context: Context,
  input: OrganizationJitRolesInput,
): Promise<Organization> {
  const { organizationId, organizationRoleIds } = parseInput(jitRolesInput, input);
  return change(context, organizationId, async (tx) => {
    await assertAssignable(tx, context, organizationRoleIds, 'USER');
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

const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1).toLowerCase();

/**
 * Makes a person with a verified e-mail address a member of each organization that has its domain, with the
 * just-in-time roles. Raises `Organization.Membership.Updated` for each.
 */
export async function joinJustInTime(
  tx: Transaction,
  context: Context,
  { userId, email }: { userId: string; email: string },
): Promise<void> {
  const joined = await tx.organizationEmailDomain.findMany({
    where: { domain: domainOf(email) },
    // Locks on several organizations are always taken in this order.
    orderBy: { organizationId: 'asc' },
    select: { organizationId: true },
  });
  for (const { organizationId } of joined) await joinOne(tx, context, organizationId, userId);
}

/** A person at an identity provider. */
export interface ProviderPerson {
  readonly identityProviderId: string;
  /** As the provider tells it, verified or not; null if it does not. */
  readonly email: string | null;
  /** Whether the provider says that it has verified the address. */
  readonly isEmailVerified: boolean;
}

/**
 * The organizations that a person from an identity provider joins. Of a provider with e-mail domains, only people of
 * these: a company may use a provider that others use too, or have guests there. Where anybody can have an account, an
 * address counts only if it is verified.
 */
function organizationsOf({ identityProviderId, email, isEmailVerified }: ProviderPerson) {
  const company: Prisma.IdentityProviderWhereInput = isEmailVerified ? {} : { kind: 'ENTERPRISE' };
  const domains = email === null ? {} : { emailDomains: { some: { domain: domainOf(email) } } };
  return {
    identityProviderId,
    identityProvider: { OR: [{ emailDomains: { none: {} } }, { ...company, ...domains }] },
  } satisfies Prisma.OrganizationIdentityProviderWhereInput;
}

/** Whether a person is one of a company's, whose `ENTERPRISE` provider brings them to an organization. */
export const isOfCompany = async (tx: Transaction, person: ProviderPerson): Promise<boolean> =>
  (await tx.organizationIdentityProvider.count({
    where: { AND: [organizationsOf(person), { identityProvider: { kind: 'ENTERPRISE' } }] },
    take: 1,
  })) > 0;

/**
 * Makes a person who comes from an identity provider a member of each organization that has the provider, with the
 * just-in-time roles. Raises `Organization.Membership.Updated` for each.
 */
export async function joinByProvider(
  tx: Transaction,
  context: Context,
  { userId, ...person }: ProviderPerson & { readonly userId: string },
): Promise<void> {
  const joined = await tx.organizationIdentityProvider.findMany({
    where: organizationsOf(person),
    orderBy: { organizationId: 'asc' },
    select: { organizationId: true },
  });
  for (const { organizationId } of joined) await joinOne(tx, context, organizationId, userId);
}

async function joinOne(
  tx: Transaction,
  context: Context,
  organizationId: string,
  userId: string,
): Promise<void> {
  // Meanwhile it may have been deleted, or have lost the domain.
  const isThere = await tx.organization.count({ where: { id: organizationId } });
  if (isThere === 0) return;
  await lockRow(tx, 'Organization', organizationId);
  const addedUserIds = await addMembers(tx, context, 'user', organizationId, [userId]);
  const roles = await tx.organizationJitRole.findMany({ where: { organizationId } });
  await tx.organizationUserRole.createMany({
    data: roles.map(({ organizationRoleId }) => ({ organizationId, userId, organizationRoleId })),
    skipDuplicates: true,
  });
  await recordEvents(
    tx,
    context,
    membershipData(organizationId, { addedUserIds }).map((data) => ({
      type: 'Organization.Membership.Updated',
      data,
    })),
  );
}

const providerInput = z.object({ organizationId: z.string(), identityProviderId: z.string() });

/** An organization and an identity provider. */
export type OrganizationIdentityProviderInput = z.input<typeof providerInput>;

const providerConflicts = {
  OrganizationIdentityProvider_pkey: {
    path: ['identityProviderId'],
    message: 'The organization has this identity provider already.',
  },
};

/**
 * Adds an identity provider whose people join an organization just in time.
 *
 * @throws {NotFoundError} {@link ConflictError} on `identityProviderId`; {@link NotAllowedError} when they would get
 *   more than the caller holds.
 */
export async function addOrganizationIdentityProvider(
  context: Context,
  input: OrganizationIdentityProviderInput,
): Promise<Organization> {
  const key = parseInput(providerInput, input);
  return refuseConflict(providerConflicts, () =>
    change(context, key.organizationId, async (tx) => {
      await lockRow(tx, 'IdentityProvider', key.identityProviderId);
      await assertMayGiveJitRoles(tx, context, key.organizationId);
      await tx.organizationIdentityProvider.create({
        data: { ...key, createdAt: context.clock.now() },
      });
    }),
  );
}

/**
 * Removes an identity provider whose people join an organization just in time; members stay.
 *
 * @throws {NotFoundError} of the organization, or of the provider that it does not have.
 */
export async function removeOrganizationIdentityProvider(
  context: Context,
  input: OrganizationIdentityProviderInput,
): Promise<Organization> {
  const key = parseInput(providerInput, input);
  return change(context, key.organizationId, async (tx) => {
    const { count } = await tx.organizationIdentityProvider.deleteMany({ where: key });
    if (count === 0) throw new NotFoundError(key.identityProviderId);
  });
}

async function assertMayGiveJitRoles(
  tx: Transaction,
  context: Context,
  organizationId: string,
): Promise<void> {
  const given = await tx.organizationJitRole.findMany({
    where: { organizationId },
    select: { organizationRoleId: true },
  });
  const organizationRoleIds = given.map(({ organizationRoleId }) => organizationRoleId);
  await assertMayGive(tx, context, { organizationRoleIds });
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
