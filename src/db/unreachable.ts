import { sqlState } from './sql.ts';

// All of class 08 (connection_exception), and admin_shutdown, crash_shutdown, cannot_connect_now,
// idle_session_timeout, disk_full, too_many_connections, and read_only_sql_transaction: a standby or a server set to
// read-only.
const states = /^08...$|^57P0[1235]$|^53[13]00$|^25006$/;

// Prisma: unreachable, timed out connecting or waiting, closed, no free connection in time, too many connections.
const prismaCodes = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2037']);
// A raw statement fails as P2010 for every cause; the driver's adapter names the cause.
const adapterKinds = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
]);
const socketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
]);

// pg and its pool give these errors no code.
const driverMessages = [
  'Connection terminated',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
];
// A server that stops removes its Unix socket, which is a file.
const noSocket = 'connect ENOENT';
// Prisma uses P2028 for every fault of a transaction.
const noConnectionInTime = 'Unable to start a transaction in the given time';

/**
 * Whether an error means that the database cannot be reached or written: the same request may succeed a little later.
 */
export function isUnreachable(error: unknown): boolean {
  // fetch reports its own broken connections as a TypeError.
  if (!(error instanceof Error) || error instanceof TypeError) return false;
  const { code, meta, cause, originalError } = error as Error & {
    readonly code?: unknown;
    readonly meta?: { readonly driverAdapterError?: { readonly cause?: { kind?: string } } };
    readonly originalError?: unknown;
  };
  return (
    prismaCodes.has(String(code)) ||
    socketCodes.has(String(code)) ||
    (code === 'ENOENT' && error.message.includes(noSocket)) ||
    (code === 'P2028' && error.message.includes(noConnectionInTime)) ||
    adapterKinds.has(meta?.driverAdapterError?.cause?.kind ?? '') ||
    adapterKinds.has((cause as { readonly kind?: string } | undefined)?.kind ?? '') ||
    states.test(sqlState(error) ?? '') ||
    driverMessages.some((message) => error.message.startsWith(message)) ||
    (error instanceof AggregateError && error.errors.some(isUnreachable)) ||
    isUnreachable(cause) ||
    isUnreachable(originalError)
  );
}
