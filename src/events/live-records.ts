import DataLoader from 'dataloader';
import type { GraphQLContext } from '../graphql/context.ts';

/** A kind of record that events are about. */
export type LiveModel =
  | 'User'
  | 'Role'
  | 'Scope'
  | 'Application'
  | 'Organization'
  | 'OrganizationRole'
  | 'OrganizationScope';

type Loader = DataLoader<string, object | null>;

const loaders = new WeakMap<object, Map<string, Loader>>();
/** PostgreSQL takes 65,535 parameters; a list of members can be longer. */
const chunkSize = 10_000;

/**
 * Finds records as they are now, in the order of their ids, null for those that are gone. What the fields of a page
 * of events ask for of one kind is read together.
 *
 * @param query What to select, as Pothos has it from the request.
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

/** Finds one record as it is now; null where there is none, or none is named. */
export async function findOneLive(
  context: GraphQLContext,
  model: LiveModel,
  id: string | null,
  query: object,
): Promise<never> {
  // What a row of a model named by a string is, only the caller's field knows.
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
      // An id is read once a batch, and anew in the next one: what changed meanwhile is shown.
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
  // The delegates have one signature as far as it is used here, which their types do not say.
  const delegates = {
    User: prisma.user,
    Role: prisma.role,
    Scope: prisma.scope,
    Application: prisma.application,
    Organization: prisma.organization,
    OrganizationRole: prisma.organizationRole,
    OrganizationScope: prisma.organizationScope,
  } as unknown as Record<
    LiveModel,
    { findMany(query: object): Promise<{ readonly id: string }[]> }
  >;
  const found = await delegates[model].findMany({ ...query, where: { id: { in: [...ids] } } });
  const rows = new Map(found.map((row) => [row.id, row]));
  return ids.map((id) => rows.get(id) ?? null);
}
