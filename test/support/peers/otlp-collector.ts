import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeAtEnd } from '../cleanup.ts';
import { eventually } from '../wait.ts';

type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A span as it arrived. */
interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentSpanId: string;
  readonly name: string;
  /** 2 for a server, 3 for a client (`SpanKind` of opentelemetry/proto/trace/v1/trace.proto). */
  readonly kind: number;
  readonly attributes: Attributes;
  readonly isError: boolean;
  readonly resource: Attributes;
}

/** A data point as it arrived: a number, or a histogram's count and buckets. */
interface CollectedPoint {
  readonly metric: string;
  readonly attributes: Attributes;
  readonly value: number;
  readonly bucketCounts?: readonly number[];
}

/** What takes traces and metrics over OTLP/HTTP. */
export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  readonly points: readonly CollectedPoint[];
  /** Everything that arrived, as it came. */
  readonly bytes: readonly Buffer[];
  /** Waits for a span, and returns the first. */
  span(is: (span: CollectedSpan) => boolean): Promise<CollectedSpan>;
}

/** Starts a collector, which stops with the test, or with its file. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const points: CollectedPoint[] = [];
  const bytes: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    bytes.push(body);
    if (request.url === '/v1/traces') spans.push(...readSpans(body));
    if (request.url === '/v1/metrics') points.push(...readPoints(body));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAtEnd(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    points,
    bytes,
    span: (is) =>
      eventually(() => {
        const found = spans.find(is);
        if (found) return found;
        throw new Error(`There is no such span among ${spans.map(({ name }) => name)}.`);
      }),
  };
}

// The wire format of Protocol Buffers, as far as OTLP uses it; the numbers are those of opentelemetry-proto.

/** The fields of a message, by number: numbers, and the bytes of all else. */
type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>;

function fieldsOf(message: Buffer): Fields {
  const fields = new Map<number, (bigint | Buffer)[]>();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number) => {
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.length) {
    const tag = varint();
    const wireType = Number(tag & 7n);
    const value =
      wireType === 0 ? varint() : take(wireType === 1 ? 8 : wireType === 5 ? 4 : Number(varint()));
    const number = Number(tag >> 3n);
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

const all = (fields: Fields, number: number): Buffer[] =>
  (fields.get(number) ?? []).filter((value) => typeof value !== 'bigint');
const one = (fields: Fields, number: number): Buffer => all(fields, number)[0] ?? Buffer.of();
const messages = (fields: Fields, number: number): Fields[] => all(fields, number).map(fieldsOf);
const text = (fields: Fields, number: number): string => one(fields, number).toString('utf8');

const attributesOf = (fields: Fields, number: number): Attributes =>
  Object.fromEntries(
    messages(fields, number).map((pair) => {
      const value = fieldsOf(one(pair, 2));
      const [bool] = value.get(2) ?? [];
      const [int] = value.get(3) ?? [];
      const [double] = all(value, 4);
      return [
        text(pair, 1),
        int !== undefined
          ? Number(int)
          : bool !== undefined
            ? bool === 1n
            : double
              ? double.readDoubleLE()
              : text(value, 1),
      ];
    }),
  );

const readSpans = (body: Buffer): CollectedSpan[] =>
  messages(fieldsOf(body), 1).flatMap((of) => {
    const resource = attributesOf(fieldsOf(one(of, 1)), 1);
    return messages(of, 2).flatMap((scope) =>
      messages(scope, 2).map((span) => ({
        traceId: one(span, 1).toString('hex'),
        spanId: one(span, 2).toString('hex'),
        parentSpanId: one(span, 4).toString('hex'),
        name: text(span, 5),
        kind: Number(span.get(6)?.[0] ?? 0),
        attributes: attributesOf(span, 9),
        isError: fieldsOf(one(span, 15)).get(3)?.[0] === 2n,
        resource,
      })),
    );
  });

const [gauge, sum, histogram] = [5, 7, 9];

const readPoints = (body: Buffer): CollectedPoint[] =>
  messages(fieldsOf(body), 1)
    .flatMap((of) => messages(of, 2))
    .flatMap((scope) => messages(scope, 2))
    .flatMap((metric) => [
      ...[gauge, sum].flatMap((kind) =>
        messages(fieldsOf(one(metric, kind)), 1).map((point) => ({
          metric: text(metric, 1),
          attributes: attributesOf(point, 7),
          value: one(point, 4).length > 0 ? one(point, 4).readDoubleLE() : 0,
        })),
      ),
      ...messages(fieldsOf(one(metric, histogram)), 1).map((point) => {
        const counts = one(point, 6);
        return {
          metric: text(metric, 1),
          attributes: attributesOf(point, 9),
          value: Number(one(point, 4).readBigUInt64LE()),
          bucketCounts: Array.from({ length: counts.length / 8 }, (_, i) =>
            Number(counts.readBigUInt64LE(8 * i)),
          ),
        };
      }),
    ]);
