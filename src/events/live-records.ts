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

interface Batch {
  readonly ids: Set<string>;
  readonly rows: Promise<ReadonlyMap<string, object>>;
}

const batches = new WeakMap<object, Map<string, Batch>>();
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
  if (ids.length === 0) return [];
  const open = batches.get(context) ?? new Map<string, Batch>();
  batches.set(context, open);
  const key = `${model} ${JSON.stringify(query)}`;
  let batch = open.get(key);
  if (!batch) {
    const wanted = new Set<string>();
    const rows = afterResolvers().then(() => {
      open.delete(key);
      return read(context, model, [...wanted], query);
    });
    batch = { ids: wanted, rows };
    open.set(key, batch);
  }
  for (const id of ids) batch.ids.add(id);
  const rows = await batch.rows;
  return ids.map((id) => rows.get(id) ?? null);
}

// Every resolver that is ready to run has run by then.
const afterResolvers = () =>
  new Promise<void>((resolve) => {
    void Promise.resolve().then(() => process.nextTick(resolve));
  });

async function read(
  { database: { prisma } }: GraphQLContext,
  model: LiveModel,
  ids: readonly string[],
  query: object,
): Promise<ReadonlyMap<string, object>> {
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
  const rows = new Map<string, object>();
  for (let start = 0; start < ids.length; start += chunkSize) {
    const chunk = ids.slice(start, start + chunkSize);
    const found = await delegates[model].findMany({ ...query, where: { id: { in: chunk } } });
    for (const row of found) rows.set(row.id, row);
  }
  return rows;
}
