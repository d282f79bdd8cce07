import { setTimeout as delay } from 'node:timers/promises';
import type { NewEvent } from '../src/events/record.ts';
import { newId } from '../src/ids.ts';
import { systemActor } from '../src/services.ts';

/** A request of the bench to a source of events. */
export type SourceRequest =
  | { readonly kind: 'end' }
  | { readonly kind: 'memory' }
  | { readonly kind: 'subscribers'; readonly count: number }
  /** All events in one commit if `everyMs` is absent; otherwise one event a commit, this many milliseconds apart. */
  | { readonly kind: 'write'; readonly events: number; readonly everyMs?: number };

/** A server that subscribers of the bench connect to. */
export interface EventSource {
  /** A cursor before every event written from now on. */
  end(): Promise<string>;
  subscribers(): Promise<number>;
  /** Writes events in one commit; returns the time of the commit, by {@link sharedNow}. */
  write(events: readonly NewEvent[]): Promise<number>;
}

/** The machine's monotonic clock, which all processes share; in milliseconds. */
export const sharedNow = (): number => Number(process.hrtime.bigint()) / 1e6;

/** An event whose name is its number. */
function numberedEvent(number: number): NewEvent {
  const at = new Date().toISOString();
  return {
    type: 'User.Created',
    data: {
      id: newId('User'),
      username: `user_${number}`,
      primaryEmail: `user_${number}@example.com`,
      primaryPhone: null,
      isEmailVerified: false,
      isPhoneVerified: false,
      name: String(number),
      avatar: null,
      profile: {},
      customData: {},
      isSuspended: false,
      hasPassword: true,
      lastSignInAt: null,
      createdAt: at,
      updatedAt: at,
    },
  };
}

/** The actor of the events. */
export const actor = systemActor;

/** Answers the requests of the parent process. */
export function serveBench(source: EventSource): void {
  const answer = async (request: SourceRequest): Promise<unknown> => {
    switch (request.kind) {
      case 'end':
        return source.end();
      case 'memory':
        for (let i = 0; i < 4; i += 1) globalThis.gc?.();
        return process.memoryUsage();
      case 'subscribers':
        while ((await source.subscribers()) !== request.count) await delay(20);
        return request.count;
      case 'write': {
        const { events, everyMs } = request;
        const all = Array.from({ length: events }, (_, number) => numberedEvent(number));
        if (everyMs === undefined) {
          return Array<number>(events).fill(await source.write(all));
        }
        const committedAt: number[] = [];
        const begunAt = sharedNow();
        for (const [number, event] of all.entries()) {
          await delay(Math.max(0, begunAt + number * everyMs - sharedNow()));
          committedAt.push(await source.write([event]));
        }
        return committedAt;
      }
      default:
        return request satisfies never;
    }
  };
  process.on('message', (request: SourceRequest) => {
    answer(request).then(
      (result) => process.send?.({ result }),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
}
