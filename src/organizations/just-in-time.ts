import { z } from 'zod';
import { assertMayGive, assertMayLetIn } from '../auth/granting/may-open.ts';
import {
  coversEverything,
  inCommon,
  mayDoEverything,
  type SetterScopes,
  setterScopesOf,
} from '../auth/granting/setter-scopes.ts';
import { refuseConflict } from '../db/conflict.ts';
import { lockRow } from '../db/lock.ts';
import { type Told, untold } from '../db/told.ts';
import { type Transaction, transaction } from '../db/transaction.ts';
import { raiseVersion } from '../db/versions.ts';
import { NotFoundError } from '../errors.ts';
import { changesBetween, recordEvent, recordEvents } from '../events/record.ts';
import type { Organization, Prisma } from '../generated/prisma/client.ts';
import { distinct, emailDomain, parseInput } from '../input.ts';
import { organizationUserHolder } from '../role-holders/holders.ts';
import { assertAssignable, assign, recordRoles } from '../role-holders/operations.ts';
import type { Context } from '../services.ts';
import { readSignInExperience } from '../sign-in-experience/settings.ts';
import { domainOf, readDomain } from '../text/address.ts';
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
 * Adds an e-mail domain, in lower case, whose people join an organization just in time. Raises
 * `Organization.Settings.Updated`.
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
        data: { ...key, setterScopes: setterScopesOf(context), createdAt: context.clock.now() },
      });
    }),
  );
}

/**
 * Removes an e-mail domain whose people join an organization just in time; members stay. Raises
 * `Organization.Settings.Updated`.
 *
 * @throws {NotFoundError} of the organization, or of a domain that it does not have.
 */
export async function removeOrganizationEmailDomain(
  context: Context,
  input: OrganizationEmailDomainInput,
): Promise<Organization> {
  const key = { ...input, domain: readDomain(input.domain) ?? input.domain };
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
 * Sets the organization roles of people who join just in time; earlier settings are replaced. Raises
 * `Organization.Settings.Updated` if something changed.
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
    await assertAssignable(tx, context, organizationUserHolder, organizationRoleIds);
    const removed = await tx.organizationJitRole.deleteMany({
      where: { organizationId, organizationRoleId: { notIn: organizationRoleIds } },
    });
    const setterScopes = setterScopesOf(context);
    const added = await tx.organizationJitRole.createMany({
      data: organizationRoleIds.map((organizationRoleId) => ({
        organizationId,
        organizationRoleId,
        setterScopes,
      })),
      skipDuplicates: true,
    });
    if (added.count + removed.count > 0) await raiseVersion(tx, 'Organization', organizationId);
    // By setting them again, a caller with `all` answers for all roles that are there.
    if (mayDoEverything(context)) {
      await tx.organizationJitRole.updateMany({
        where: { organizationId },
        data: { setterScopes },
      });
    }
  });
}

/**
 * Adds a person with a verified e-mail address to each organization that has its domain, with the just-in-time roles.
 * Raises `Organization.Membership.Updated` for each.
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
    select: { organizationId: true, setterScopes: true },
  });
  for (const way of joined) await joinOne(tx, context, way, userId);
}

/** A person at an identity provider. */
export interface ProviderPerson {
  readonly identityProviderId: string;
  /** As the provider reports it, verified or not; null if it does not. */
  readonly email: string | null;
  /** Whether the provider says that it has verified the address. */
  readonly isEmailVerified: boolean;
}

/**
 * The organizations that a person from an identity provider joins. If the provider has e-mail domains, only people of
 * these domains join: a company may use a provider that others use too, or have guests there. Where anyone can have an
 * account, an address counts only if it is verified.
 */
function organizationsOf({ identityProviderId, email, isEmailVerified }: ProviderPerson) {
  const company: Prisma.IdentityProviderWhereInput = isEmailVerified ? {} : { kind: 'ENTERPRISE' };
  const domains = email === null ? {} : { emailDomains: { some: { domain: domainOf(email) } } };
  return {
    identityProviderId,
    identityProvider: { OR: [{ emailDomains: { none: {} } }, { ...company, ...domains }] },
  } satisfies Prisma.OrganizationIdentityProviderWhereInput;
}

/**
 * What those held who let the people of a company's `ENTERPRISE` provider join organizations, in common if none of them
 * held everything. Such people may register while the sign-up is closed, and then hold no more. Null if there is nobody.
 */
export async function openerScopesFor(
  tx: Transaction,
  person: ProviderPerson,
): Promise<SetterScopes | null> {
  const ways = await tx.organizationIdentityProvider.findMany({
    where: { AND: [organizationsOf(person), { identityProvider: { kind: 'ENTERPRISE' } }] },
    select: { setterScopes: true },
  });
  const [first, ...others] = ways.map(({ setterScopes }) => setterScopes);
  if (first === undefined) return null;
  return [first, ...others].find(coversEverything) ?? inCommon(first, ...others);
}

/**
 * Adds a person who comes from an identity provider to each organization that has the provider, with the just-in-time
 * roles. Raises `Organization.Membership.Updated` for each.
 */
export async function joinByProvider(
  tx: Transaction,
  context: Context,
  { userId, ...person }: ProviderPerson & { readonly userId: string },
): Promise<Told<void>> {
  const joined = await tx.organizationIdentityProvider.findMany({
    where: organizationsOf(person),
    orderBy: { organizationId: 'asc' },
    select: { organizationId: true, setterScopes: true },
  });
  let told: Told<void> = untold(undefined);
  for (const way of joined) told = (await joinOne(tx, context, way, userId)) ?? told;
  return told;
}

/**
 * Adds a user, unless they are a member or were one: who was removed is added by an administrator alone.
 *
 * @param way The domain or the provider by which the user joins.
 * @returns Nothing if they did not join.
 */
async function joinOne(
  tx: Transaction,
  context: Context,
  {
    organizationId,
    setterScopes,
  }: { readonly organizationId: string; readonly setterScopes: SetterScopes },
  userId: string,
): Promise<Told<void> | undefined> {
  // The organization may have been deleted meanwhile.
  const isThere = await tx.organization.count({ where: { id: organizationId } });
  if (isThere === 0) return undefined;
  await lockRow(tx, 'Organization', organizationId);
  const key = { organizationId, userId };
  const hasLeft = await tx.organizationDeparture.count({ where: key });
  if (hasLeft > 0) return undefined;
  const addedUserIds = await addMembers(tx, context, 'user', organizationId, [userId]);
  // Members keep the roles that they have: somebody may have taken one of these from them.
  if (addedUserIds.length === 0) return undefined;
  const roles = await tx.organizationJitRole.findMany({ where: { organizationId } });
  const added: string[] = [];
  for (const role of roles) {
    const given = {
      roleIds: [role.organizationRoleId],
      setterScopes: inCommon(role.setterScopes, setterScopes),
    };
    added.push(...(await assign(tx, organizationUserHolder, key, given)));
  }
  const told = await recordEvents(
    tx,
    context,
    membershipData(organizationId, { addedUserIds }).map((data) => ({
      type: 'Organization.Membership.Updated',
      data,
    })),
  );
  await recordRoles(tx, context, organizationUserHolder, key, { added });
  return told.with(undefined);
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
 * Adds an identity provider whose people join an organization just in time. Raises `Organization.Settings.Updated`.
 *
 * @throws {NotFoundError} {@link ConflictError} on `identityProviderId`; {@link NotAllowedError} when they would get
 *   more than the caller holds, or may register only now and every new user does.
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
      await assertMayLetIn(tx, context, await letsPeopleIn(tx, key));
      await tx.organizationIdentityProvider.create({
        data: { ...key, setterScopes: setterScopesOf(context), createdAt: context.clock.now() },
      });
    }),
  );
}

/** Whether the people of a provider may register only because they join an organization by it. */
async function letsPeopleIn(
  tx: Transaction,
  { identityProviderId }: Pick<OrganizationIdentityProviderInput, 'identityProviderId'>,
): Promise<boolean> {
  const { signUpEnabled } = await readSignInExperience(tx);
  if (signUpEnabled) return false;
  const where = { id: identityProviderId, kind: 'ENTERPRISE' } as const;
  return (await tx.identityProvider.count({ where })) > 0;
}

/**
 * Removes an identity provider whose people join an organization just in time; members stay. Raises
 * `Organization.Settings.Updated`.
 *
 * @throws {NotFoundError} of the organization, or of a provider that it does not have.
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
    const before = await readSettings(tx, organizationId);
    await work(tx);
    const after = await readSettings(tx, organizationId);
    // A caller with `all` may only have renewed who answers for the roles.
    const changes =
      changesBetween(before.shown, after.shown) ?? changesBetween(before.setters, after.setters);
    const told = changes
      ? await recordEvent(tx, context, 'Organization.Settings.Updated', { organizationId, changes })
      : untold(undefined);
    return told.with(await tx.organization.findUniqueOrThrow({ where: { id: organizationId } }));
  });
}

/** The settings of an organization as events show them, and what those held who set its roles. */
async function readSettings(tx: Transaction, id: string) {
  const { emailDomains, identityProviders, jitRoles } = await tx.organization.findUniqueOrThrow({
    where: { id },
    select: { emailDomains: true, identityProviders: true, jitRoles: true },
  });
  const setterScopes = jitRoles.flatMap((role) => role.setterScopes);
  return {
    shown: {
      emailDomains: emailDomains.map(({ domain }) => domain).sort(),
      identityProviderIds: identityProviders.map((row) => row.identityProviderId).sort(),
      jitRoleIds: jitRoles.map(({ organizationRoleId }) => organizationRoleId).sort(),
    },
    setters: { jitRoleSetterScopes: [...new Set(setterScopes)].sort() },
  };
}
