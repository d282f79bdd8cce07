import type { EventData } from '../../events/catalogue/catalogue.ts';
import type { RequestCall } from '../../services.ts';
import { clientOf } from '../addresses.ts';

/** The types of event that tell of refusals. Anybody can cause them, so they are bounded. */
export type RefusalType = 'SignIn.Failed' | 'Token.Refused';

/** What a refusal is reported with. */
export type ReportedRefusal = {
  [Type in RefusalType]: {
    readonly type: Type;
    /** The data of its event, beside the address and the number of those left out. */
    readonly data: Omit<EventData<Type>, 'ip' | 'suppressed'>;
    readonly call: RequestCall;
  };
}[RefusalType];

/** A refusal that may become an event. */
export type Refusal = ReportedRefusal & { readonly at: Date };

/** Whose share of events a refusal takes from. */
export interface ShareKey {
  readonly type: RefusalType;
  /**
   * An application's, a client address's, or OTHER: that of all who name no application, and of refusals that were too
   * many to be counted by name.
   */
  readonly kind: 'APPLICATION' | 'ADDRESS' | 'OTHER';
  readonly name: string;
}

/** The span of {@link mostToldAMinute}. */
export const minuteMs = 60_000;

/**
 * The most events of a type in a minute, for each kind of share. An attacker can have many addresses, so all requests
 * without an application have a bound together too.
 */
export const mostToldAMinute: Readonly<Record<ShareKey['kind'], number>> = {
  APPLICATION: 60,
  ADDRESS: 60,
  OTHER: 600,
};

/** A share as one text. */
export const textOf = ({ type, kind, name }: ShareKey): string => `${type} ${kind} ${name}`;

/** The shares that a refusal takes from. If several are used up, the first is the one that leaves it out. */
export function sharesOf({
  type,
  data,
  call,
}: ReportedRefusal): readonly [ShareKey, ...ShareKey[]] {
  const ofAddress: ShareKey = { type, kind: 'ADDRESS', name: clientOf(call.ip) };
  const { applicationId } = data;
  return applicationId === null
    ? [ofAddress, otherOf(type)]
    : [{ type, kind: 'APPLICATION', name: applicationId }, ofAddress];
}

/** The share of refusals without a name of their own. */
export const otherOf = (type: RefusalType): ShareKey => ({ type, kind: 'OTHER', name: '' });
