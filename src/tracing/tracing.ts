import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { unrecordedSpan } from './traceparent.ts';

export { SpanKind } from '@opentelemetry/api';

/** What records spans. */
export interface Recorder {
  readonly tracer: Tracer;
  /** Begins a span without a parent, in a trace that others began. */
  beginIn(traceId: string, name: string, options: SpanOptions): Span;
}

// One for the process, as the context is that it follows.
let recorder: Recorder | undefined;

/** Records spans from now on; with undefined no more. */
export function recordWith(next: Recorder | undefined): void {
  recorder = next;
}

/** Whether spans are recorded. */
export const isTracing = (): boolean => recorder !== undefined;

/** Says that the work of a span failed, and how. */
export function markFailed(span: Span | undefined, type: string): void {
  span?.setAttribute('error.type', type);
  span?.setStatus({ code: SpanStatusCode.ERROR });
}

/** Ends a span by how its work ended. Of an error only its kind is told: its message may hold a value. */
function end(span: Span, failure?: unknown): void {
  if (failure !== undefined) {
    const { name, code } = failure as { readonly name?: unknown; readonly code?: unknown };
    markFailed(span, String(code ?? name ?? 'error'));
  }
  span.end();
}

async function within<T>(span: Span, parent: Context, work: () => Promise<T>): Promise<T> {
  try {
    const result = await context.with(trace.setSpan(parent, span), work);
    end(span);
    return result;
  } catch (error) {
    end(span, error ?? 'error');
    throw error;
  }
}

/** Runs work in a span within the current one; in none if there is no current one. */
export function inSpan<T>(
  name: string,
  options: SpanOptions,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const parent = recorder && currentSpan();
  if (!recorder || !parent) return work(undefined);
  const here = context.active();
  const span = recorder.tracer.startSpan(name, options, here);
  return within(span, here, () => work(span));
}

// Work that goes on after its request, such as a loop that the request woke, is not a part of it.
function currentSpan(): Span | undefined {
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span : undefined;
}

/**
 * Runs work that continues a trace at another time or in another process than where it began.
 *
 * @param work Gets its span, or if nothing is recorded one that only says where what it calls belongs.
 */
export function inTrace<T>(
  traceId: string,
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  work: (place: SpanContext, span: Span | undefined) => Promise<T>,
): Promise<T> {
  if (!recorder) return work(unrecordedSpan(traceId), undefined);
  const span = recorder.beginIn(traceId, name, { kind, attributes });
  return within(span, ROOT_CONTEXT, () => work(span.spanContext(), span));
}

/** The span of a request, which is begun before its route is known. */
export interface RequestSpan {
  readonly traceId: string;
  /** Runs a part of the request's work. */
  run(part: () => void): void;
  /** Ends it, with the route that was found. */
  end(route: string | undefined, status: number): void;
}

/** Begins the span of a request; undefined if nothing is recorded. */
export function beginRequest(
  method: string,
  parent: SpanContext | undefined,
  attributes: Attributes,
): RequestSpan | undefined {
  if (!recorder) return undefined;
  const from = parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
  const span = recorder.tracer.startSpan(
    method,
    { kind: SpanKind.SERVER, attributes: { 'http.request.method': method, ...attributes } },
    from,
  );
  const here = trace.setSpan(from, span);
  return {
    traceId: span.spanContext().traceId,
    run: (part) => context.with(here, part),
    end(route, status) {
      span.setAttribute('http.response.status_code', status);
      if (route !== undefined) {
        span.updateName(`${method} ${route}`);
        span.setAttribute('http.route', route);
      }
      end(span, status >= 500 ? { code: status } : undefined);
    },
  };
}
