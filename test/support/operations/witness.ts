import { type OperationDefinitionNode, parse } from 'graphql';
import { vi } from 'vitest';
import { lastWayCookie } from '../../../src/experience/site/last-way.ts';
import { closeAtEnd } from '../cleanup.ts';
import { withoutRefusals } from '../events.ts';
import { endOfLog } from '../people/account.ts';
import { readOutbox } from '../people/messages.ts';
import type { TestService } from '../service.ts';

/** A mutation that was sent, and the types of the events that were recorded until its answer. */
interface Witnessed {
  /** The path of its schema and its name: `/graphql createUser`. */
  readonly mutation: string;
  readonly told: readonly string[];
}

const secretOnTheWay =
  /^(password|code|codes|token|secret|csrf|challenge|clientSecret|client_secret|codeVerifier|code_verifier|interactionToken|access_token|refresh_token|id_token|subject_token)$/;
// An error has a `code` too.
const isErrorCode = /^[A-Z_]+$/;

/** The texts of a value under the fields whose names match, and in the queries of its URLs. */
function* secretsIn(value: unknown, isSecret = false): Generator<string> {
  if (typeof value === 'string') {
    if (isSecret && !isErrorCode.test(value)) yield value;
    if (URL.canParse(value)) yield* secretsIn(Object.fromEntries(new URL(value).searchParams));
  } else if (Array.isArray(value)) for (const one of value) yield* secretsIn(one, isSecret);
  else if (typeof value === 'object' && value !== null)
    for (const [name, one] of Object.entries(value)) {
      // The headers of a webhook hold credentials under any name.
      yield* secretsIn(one, name === 'headers' || isSecret || secretOnTheWay.test(name));
    }
}

interface Sent {
  readonly query?: string;
  readonly variables?: unknown;
}

function mutationIn(target: string, { query }: Sent): string | undefined {
  if (!query?.includes('mutation')) return undefined;
  const [operation] = parse(query).definitions as OperationDefinitionNode[];
  const [field] = operation?.selectionSet.selections ?? [];
  if (operation?.operation !== 'mutation' || field?.kind !== 'Field') return undefined;
  return `${new URL(target).pathname} ${field.name.value}`;
}

/**
 * Watches what a test file sends and gets from here on. It sends mutations one after the other, so that the events that
 * come until an answer are those of the mutation.
 */
export function watchRequests(service: TestService) {
  const { prisma } = service.app.services.database;
  const seen: Witnessed[] = [];
  const secrets = new Set<string>();
  const note = (value: unknown) => {
    for (const secret of secretsIn(value)) secrets.add(secret);
  };
  const toldSince = async (position: bigint) =>
    (
      await prisma.event.findMany({
        where: { ...withoutRefusals, position: { gt: position } },
        orderBy: { position: 'asc' },
        select: { type: true },
      })
    ).map(({ type }) => type);

  const send = globalThis.fetch;
  vi.stubGlobal('fetch', async (target: string | URL, init: RequestInit = {}) => {
    const { body } = init;
    const sent =
      body instanceof URLSearchParams
        ? Object.fromEntries(body)
        : typeof body === 'string' && body.startsWith('{')
          ? (JSON.parse(body) as Sent)
          : {};
    const credential = new Headers(init.headers).get('authorization')?.split(' ')[1];
    note({ ...sent, token: credential, url: String(target) });
    const mutation = mutationIn(String(target), sent);
    const before = mutation ? await endOfLog(service) : 0n;
    const response = await send(target, init);
    if (mutation) seen.push({ mutation, told: await toldSince(before) });
    note({ url: response.headers.get('location') });
    for (const cookie of response.headers.getSetCookie()) {
      if (cookie.startsWith(`${lastWayCookie}=`)) continue;
      note({ token: cookie.slice(cookie.indexOf('=') + 1).split(';')[0] });
    }
    if (/[/+]json/.test(response.headers.get('content-type') ?? ''))
      note(await response.clone().json());
    return response;
  });
  closeAtEnd(async () => void vi.unstubAllGlobals());

  return {
    seen,
    /** The types of the events that something raises. */
    async toldBy(work: () => Promise<unknown>): Promise<string[]> {
      const before = await endOfLog(service);
      await work();
      return toldSince(before);
    },
    /** The secrets of all requests, answers, messages and stored digests that stand somewhere in the event log. */
    async findLeaks(): Promise<{ leaked: string[]; searched: number }> {
      note(await readOutbox(service));
      for (const { passwordDigest } of await prisma.user.findMany())
        note({ secret: passwordDigest });
      // A transaction's number may be that of a code.
      const rows = await prisma.$queryRaw<{ row: string }[]>`
        SELECT (to_jsonb(e) - 'xid' - 'position')::text AS "row" FROM "Event" e`;
      const log = rows.map(({ row }) => row).join('\n');
      const isWhole = (secret: string) =>
        new RegExp(`(?<![\\w-])${RegExp.escape(secret)}(?![\\w-])`).test(log);
      const searched = [...secrets].filter(({ length }) => length >= 6);
      const leaked = searched.filter((secret) => log.includes(secret) && isWhole(secret));
      return { leaked, searched: searched.length };
    },
  };
}
