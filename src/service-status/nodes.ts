import { createHash, randomBytes } from 'node:crypto';
import { lockName } from '../db/lock.ts';
import { quietTransaction, type Transaction } from '../db/transaction.ts';
import { StartError } from '../errors.ts';
import { dataSchemaOf, eventNames } from '../events/catalogue/catalogue.ts';
import { repeat } from '../scheduler.ts';
import type { Services } from '../services.ts';
import { configurationOf, startOf, thisNode } from './about.ts';

/** How often a process says that it lives. */
const everyMs = 5_000;
/** How long a process counts that has said nothing since: it may have been killed. */
const livesMs = 30_000;

/** The variables that mean the same for all processes; of the others each may have its own. */
const sharedVariables = [
  'BASE_URL',
  'SIGNING_ALG',
  'EVENT_RETENTION_DAYS',
  'AUDIT_RETENTION_DAYS',
  'EVENT_SINK_URL',
  'ALLOW_PRIVATE_WEBHOOKS',
  'WEBHOOK_TIMEOUT_SECONDS',
  'GRAPHIQL',
  'INTROSPECTION',
  'MCP',
];

/** What differs while an upgrade replaces the processes one after the other. */
const ofVersion = ['VERSION', 'EVENT_TYPES'];

/** A process of the service, as all of them can read it. */
interface NodeRow {
  readonly id: string;
  readonly name: string;
  readonly startedAt: Date;
  readonly seenAt: Date;
  /** What all processes should have in common, by name. */
  readonly shared: Readonly<Record<string, string>>;
  /** The names of the secrets that it can decrypt with, the one that it encrypts with first. */
  readonly secrets: readonly string[];
}

/** A living process of the service. */
export interface LivingNode extends Pick<NodeRow, 'name' | 'startedAt' | 'seenAt'> {
  readonly version: string;
  readonly isThis: boolean;
  /** In what it differs from the process that answers: variables, `VERSION` and `EVENT_TYPES`. */
  readonly differsIn: readonly string[];
}

type Own = Omit<NodeRow, 'seenAt'>;

const owns = new WeakMap<Services['metrics'], Own>();
const disagreements = new WeakMap<Services['metrics'], readonly string[]>();

/** In what the living processes differ, but for their version, as this one last saw it: names of variables. */
export const disagreementsOf = ({ metrics }: Pick<Services, 'metrics'>): readonly string[] =>
  disagreements.get(metrics) ?? [];

/** No other process can have the embedded database open, and asked all the time it would never be at rest. */
const isAlone = ({ database }: Pick<Services, 'database'>): boolean => database.kind === 'embedded';

function ownOf(services: Services): Own {
  const known = owns.get(services.metrics);
  if (known) return known;
  const { first, previous } = services.cipher;
  const values = new Map(configurationOf(services).map(({ name, value }) => [name, value]));
  const own: Own = {
    id: `${thisNode.id}-${randomBytes(6).toString('hex')}`,
    name: thisNode.id,
    startedAt: startOf(services),
    shared: {
      ...Object.fromEntries(sharedVariables.map((name) => [name, values.get(name) ?? ''])),
      VERSION: thisNode.version,
      EVENT_TYPES: digestOfCatalogue(),
    },
    secrets: [first.id, ...(previous ? [previous.id] : [])],
  };
  owns.set(services.metrics, own);
  return own;
}

const digestOfCatalogue = (): string =>
  createHash('sha256')
    .update(JSON.stringify(eventNames.map((name) => [name, dataSchemaOf(name)])))
    .digest('hex')
    .slice(0, 16);

/**
 * Makes this process known to the others, and says in the log in what they differ, now and whenever that changes.
 *
 * @returns A function that takes this process off the list.
 * @throws {StartError} when a living process has another BASE_URL or another secret: tokens of one would be refused by the
 *   other, and what one encrypts could not be read by the other.
 */
export async function joinNodes(services: Services): Promise<() => Promise<void>> {
  const { database, log } = services;
  if (isAlone(services)) return async () => undefined;
  const own = ownOf(services);
  const others = await quietTransaction(database, async (tx) => {
    // Of two that start at once, the second sees the first.
    await lockName(tx, 'signet:nodes');
    const found = (await readNodes(tx)).filter(({ id }) => id !== own.id);
    assertFits(services, own, found);
    await write(tx, own);
    return found;
  });
  let noted = '';
  const note = (nodes: readonly NodeRow[]) => {
    const differing = nodes.filter((node) => differencesOf(own, node).length > 0);
    const variables = namesIn(own, nodes).filter((name) => !ofVersion.includes(name));
    disagreements.set(services.metrics, variables);
    const found = differing.map((node) => ({
      node: node.name,
      version: node.shared['VERSION'],
      differsIn: differencesOf(own, node),
    }));
    const text = JSON.stringify(found);
    if (text === (noted || '[]')) return;
    noted = text;
    if (found.length === 0) log.info('all processes of the service agree again');
    else if (variables.length > 0)
      log.warn({ processes: found }, 'other processes of the service are set up differently');
    else log.info({ processes: found }, 'processes of another version run beside this one');
  };
  note(others);
  const stop = repeat(
    everyMs,
    async () => {
      const nodes = await quietTransaction(database, async (tx) => {
        await write(tx, own);
        return readNodes(tx);
      });
      note(nodes.filter(({ id }) => id !== own.id));
    },
    // Whoever uses the database says that it is away.
    (error) => log.debug({ err: error }, 'the processes of the service could not be read'),
  );
  return async () => {
    await stop();
    await database.prisma.$executeRaw`DELETE FROM "Node" WHERE "id" = ${own.id}`.catch(
      (error: unknown) => log.debug({ err: error }, 'this process stays on the list for a while'),
    );
  };
}

function assertFits({ config }: Services, own: Own, others: readonly NodeRow[]): void {
  const isSet = config.baseUrl !== undefined;
  const elsewhere = others.find((node) => differencesOf(own, node).includes('BASE_URL'));
  // Several processes on a developer's machine may have none, and different ports.
  const isOfDeveloper = (node: NodeRow) => !isSet && node.shared['BASE_URL']?.startsWith(localUrl);
  if (elsewhere && !isOfDeveloper(elsewhere)) {
    const { name, shared } = elsewhere;
    throw new StartError(
      `BASE_URL is ${isSet ? own.shared['BASE_URL'] : 'not set'}, but ${name}, which runs on the same database, has ${shared['BASE_URL']}: each would refuse the tokens of the other. To change it, stop all processes first; one that was killed counts for ${livesMs / 1000} seconds.`,
    );
  }
  const strange = others.find(
    ({ secrets }) =>
      !secrets.includes(own.secrets[0] ?? '') || !own.secrets.includes(secrets[0] ?? ''),
  );
  if (strange) {
    throw new StartError(
      `SIGNET_SECRET is not that of ${strange.name}, which runs on the same database: neither could read what the other encrypts.`,
    );
  }
}

const localUrl = 'http://localhost:';

/** In what another process differs. */
const differencesOf = (own: Pick<Own, 'shared'>, other: Pick<NodeRow, 'shared'>): string[] =>
  Object.keys(own.shared).filter(
    // A version may know no such variable.
    (name) => name in other.shared && other.shared[name] !== own.shared[name],
  );

const namesIn = (own: Own, nodes: readonly NodeRow[]): string[] => [
  ...new Set(nodes.flatMap((node) => differencesOf(own, node))),
];

// By the clock of the database: those of the processes may differ.
async function write(
  tx: Transaction,
  { id, name, startedAt, shared, secrets }: Own,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO "Node" ("id", "name", "startedAt", "seenAt", "shared", "secrets")
    VALUES (${id}, ${name}, ${startedAt}::timestamptz, now(), ${JSON.stringify(shared)}::jsonb, ${[...secrets]}::text[])
    ON CONFLICT ("id") DO UPDATE SET "seenAt" = now()`;
  await tx.$executeRaw`
    DELETE FROM "Node" WHERE "seenAt" < now() - make_interval(secs => ${livesMs / 1000}::int)`;
}

const readNodes = (client: Pick<Transaction, '$queryRaw'>): Promise<NodeRow[]> =>
  client.$queryRaw<NodeRow[]>`
    SELECT "id", "name", "startedAt", "seenAt", "shared", "secrets" FROM "Node"
     WHERE "seenAt" >= now() - make_interval(secs => ${livesMs / 1000}::int)
     ORDER BY "startedAt", "id"`;

/** The living processes of the service, this one among them, the oldest first. */
export async function listNodes(services: Services): Promise<LivingNode[]> {
  const own = ownOf(services);
  const nodes = isAlone(services)
    ? [{ ...own, seenAt: services.clock.now() }]
    : await readNodes(services.database.prisma);
  return nodes.map(({ id, name, startedAt, seenAt, shared }) => ({
    name,
    startedAt,
    seenAt,
    version: shared['VERSION'] ?? '',
    isThis: id === own.id,
    differsIn: differencesOf(own, { shared }),
  }));
}
