import type { Attributes, SpanOptions } from '@opentelemetry/api';
import { inSpan, isTracing, SpanKind } from './tracing.ts';

/** What is told of a statement. Its values are never in its text: they are sent beside it. */
interface Told {
  readonly name: string;
  readonly options: SpanOptions;
}

// Some are made for a request, with as many placeholders as it has values.
const maxKnown = 1_000;
const maxTextLength = 2_048;
const known = new Map<string, Told>();

const verb = /^\s*(?:WITH\b[\s\S]*?\)\s*(?=SELECT|INSERT|UPDATE|DELETE))?\s*([a-z]+)/i;
const table = /\b(?:FROM|INTO|UPDATE|JOIN)\s+(?:"public"\.)?"(\w+)"/;

function toldOf(text: string): Told {
  const found = known.get(text);
  if (found) return found;
  const operation = verb.exec(text)?.[1]?.toUpperCase() ?? 'statement';
  const collection = table.exec(text)?.[1];
  const attributes: Attributes = {
    'db.system.name': 'postgresql',
    'db.operation.name': operation,
    'db.query.text': text.slice(0, maxTextLength),
    ...(collection && { 'db.collection.name': collection }),
  };
  const told = {
    name: collection ? `${operation} ${collection}` : operation,
    options: { kind: SpanKind.CLIENT, attributes },
  };
  if (known.size >= maxKnown) known.clear();
  known.set(text, told);
  return told;
}

/**
 * Runs a statement in a span within the current one.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/database/postgresql/
 */
export function tracedStatement<T>(text: string, run: () => Promise<T>): Promise<T> {
  if (!isTracing()) return run();
  const { name, options } = toldOf(text);
  return inSpan(name, options, run);
}
