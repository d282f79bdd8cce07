import type { AdapterPayload } from 'oidc-provider';
import { type Clock, systemClock, toNumericDate } from '../../../clock.ts';

// oidc-provider goes by the machine's clock, which on another node is another one. So its records are stored with times
// of the service's clock, and are moved at the border. `loginTs` and `authTime` come from the service, and are not moved.
const moved = ['iat', 'exp', 'iiat'] as const;

/** The NumericDate that the library takes for now. */
export const libraryNow = (): number => toNumericDate(systemClock.now());

/** How many whole seconds the library is ahead of a clock: less than none if it is behind. */
const secondsAhead = (clock: Clock): number =>
  Math.round((systemClock.now().getTime() - clock.now().getTime()) / 1000);

const move = <T extends object>(record: T, seconds: number): T => {
  const times = moved.flatMap((name) => {
    const time = (record as AdapterPayload)[name];
    return typeof time === 'number' ? [[name, time + seconds]] : [];
  });
  return { ...record, ...Object.fromEntries(times) };
};

/** A stored record, or its claims, with the times of the library's clock. */
export const toLibrary = <T extends object>(clock: Clock, record: T): T =>
  move(record, secondsAhead(clock));

/** A record of the library, or its claims, with the times of the service's clock. */
export const fromLibrary = <T extends object>(clock: Clock, record: T): T =>
  move(record, -secondsAhead(clock));
