import DataLoader from 'dataloader';
import type { GraphQLContext } from '../../graphql/context.ts';

/** A kind of record that events are about. */
export type LiveModel =
  | 'User'
  | 'Role'
  | 'Scope'
  | 'Application'
  | 'Organization'
  | 'OrganizationRole'
  | 'OrganizationScope'
  | 'Resource'
  | 'Webhook'
  | 'IdentityProvider'
  | 'TrustedIssuer'
  | 'CrossAppConnection'
  | 'OrganizationInvitation';

type Loader = DataLoader<string, object | null>;

const loaders = new WeakMap<object, Map<string, Loader>>();
/** PostgreSQL takes at most 65,535 parameters; a list of members can be longer. */
const chunkSize = 10_000;

/**
 * Finds records as they are now, in the order of the ids, null for those that were deleted. All fields of a page of
 * events that ask for one kind of record are read in one batch.
 *
 * @param query The selection that Pothos derived from the request.
 */
export async function findLive(
  context: GraphQLContext,
  model: LiveModel,
  ids: readonly string[],
  query: object,
): Promise<(object | null)[]> {
  const loader = loaderOf(context, model, query);
  return Promise.all(ids.map((id) => loader.load(id)));
}

/** Finds one record as it is now; null if there is none, or the id is null. */
export async function findOneLive(
  context: GraphQLContext,
  model: LiveModel,
  id: string | null,
  query: object,
): Promise<never> {
  // The type of the row depends on `model`; only the calling field knows it.
  return (id === null ? null : (await findLive(context, model, [id], query))[0]) as never;
}

function loaderOf(context: GraphQLContext, model: LiveModel, query: object): Loader {
  const known = loaders.get(context) ?? new Map<string, Loader>();
  loaders.set(context, known);
  const key = `${model} ${JSON.stringify(query)}`;
  const ready = known.get(key);
  if (ready) return ready;
  const loader: Loader = new DataLoader(
    (wanted) => {
      // Reads an id once a batch and again in the next, so that no batch shows stale records.
      loader.clearAll();
      return readLive(context, model, wanted, query);
    },
    { maxBatchSize: chunkSize },
  );
  known.set(key, loader);
  return loader;
}

async function readLive(
  { database: { prisma } }: GraphQLContext,
  model: LiveModel,
  ids: readonly string[],
  query: object,
): Promise<(object | null)[]> {
  // The delegates share the signature used here, but their types do not say so.
  const delegates = {
    User: prisma.user,
    Role: prisma.role,
    Scope: prisma.scope,
    Application: prisma.application,
    Organization: prisma.organization,
    OrganizationRole: prisma.organizationRole,
    OrganizationScope: prisma.organizationScope,
    Resource: prisma.resource,
    Webhook: prisma.webhook,
    IdentityProvider: prisma.identityProvider,
    TrustedIssuer: prisma.trustedIssuer,
    CrossAppConnection: prisma.crossAppConnection,
    OrganizationInvitation: prisma.organizationInvitation,
  } as unknown as Record<
    LiveModel,
    { findMany(query: object): Promise<{ readonly id: string }[]> }
  >;
  const found = await delegates[model].findMany({ ...query, where: { id: { in: [...ids] } } });
  const rows = new Map(found.map((row) => [row.id, row]));
  return ids.map((id) => rows.get(id) ?? null);
}
