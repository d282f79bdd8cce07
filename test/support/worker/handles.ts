import { eventually } from '../wait.ts';

// As `process.getActiveResourcesInfo` names them. It leaves out what keeps no process alive: an idle connection of
// `fetch`, or a timer with `unref`.
const kinds = ['ProcessWrap', 'TCPServerWrap', 'TCPSocketWrap', 'Timeout'] as const;

type Kind = (typeof kinds)[number];

const lasting: Kind[] = [];

/** Says that a handle stays open from file to file, until its worker ends. */
export const lastsForWorker = (kind: Kind): void => void lasting.push(kind);

/** Counts what is open and should not last. */
function countOpen(): ReadonlyMap<Kind, number> {
  const open = process.getActiveResourcesInfo();
  const count = (all: readonly string[], kind: Kind) => all.filter((one) => one === kind).length;
  return new Map(kinds.map((kind) => [kind, count(open, kind) - count(lasting, kind)]));
}

/** Notes what is open. Returns what says which handles have come since and are still open. */
export function noteHandles(): () => readonly string[] {
  const before = countOpen();
  return () =>
    [...countOpen()]
      .map(([kind, count]) => ({ kind, count: count - (before.get(kind) ?? 0) }))
      .filter(({ count }) => count > 0)
      .map(({ kind, count }) => `${count} ${kind}`);
}

/** Waits until no handle is left, and throws if that does not come. */
export const expectNone = (left: () => readonly string[]): Promise<void> =>
  eventually(() => {
    const names = left().join(', ');
    if (names) throw new Error(`The file leaves open: ${names}. See --detect-async-leaks.`);
  });
