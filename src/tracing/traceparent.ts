import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { SpanContext } from '@opentelemetry/api';

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const isZero = (id: string) => /^0+$/.test(id);

/** The flag that the trace may have been recorded (W3C Trace Context §3.2.2.5). */
const sampled = 1;

/**
 * Reads a `traceparent` header; undefined without one, or if it is invalid.
 *
 * @see W3C Trace Context §3.2
 */
export function readTraceparent({ traceparent }: IncomingHttpHeaders): SpanContext | undefined {
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId = '', spanId = '', flags = '', more] = form.exec(traceparent) ?? [];
  // Only later versions may have more fields.
  const isKnown = version !== undefined && version !== 'ff' && (version !== '00' || !more);
  if (!isKnown || isZero(traceId) || isZero(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & sampled, isRemote: true };
}

/** The `traceparent` header of a call within a span. */
export const traceparentOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;

/**
 * A span that nobody records, so that what it calls is in the trace all the same. Whether others record the trace is not
 * known: so they may.
 */
export const unrecordedSpan = (traceId: string): SpanContext => ({
  traceId,
  // Unlike `randomBytes`, it does not ask the system each time. The fixed bits in this half are not zero.
  spanId: randomUUID().slice(19).replace('-', ''),
  traceFlags: sampled,
});
