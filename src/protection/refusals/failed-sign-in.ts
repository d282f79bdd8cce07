import type { EventData } from '../../events/catalogue/catalogue.ts';
import { counterOf } from '../../metrics/metrics.ts';
import type { RequestCall, VisitContext } from '../../services.ts';
import { reportRefusal } from './start.ts';

type FailedSignIn = Omit<EventData<'SignIn.Failed'>, 'ip' | 'userAgent' | 'suppressed'>;

/** What was tried in a sign-in. */
export type SignInMethod = NonNullable<FailedSignIn['method']>;

/** Why a sign-in failed. */
export type FailureReason = NonNullable<FailedSignIn['reason']>;

/** Reports a failed sign-in, or a failed proof of somebody who is signed in, for `SignIn.Failed` and the metrics. */
export const reportFailedSignIn = (
  context: RequestCall & Pick<VisitContext, 'cipher' | 'clock' | 'metrics'>,
  failed: FailedSignIn,
): void => {
  const { traceId, ip, userAgent } = context;
  const data = { ...failed, userAgent };
  const outcome = failed.reason?.toLowerCase() ?? 'credential';
  counterOf(context.metrics, 'signet_sign_ins_total').inc({ outcome });
  reportRefusal(context, { type: 'SignIn.Failed', data, call: { traceId, ip, userAgent } });
};
