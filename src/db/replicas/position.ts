/** A place in the write-ahead log of the primary. */
export interface WalPosition {
  /** The history that it belongs to: each promotion and each recovery to a moment begins another. */
  readonly timeline: number;
  /** In bytes since the beginning of the log. */
  readonly lsn: bigint;
}

/** A place that no replica reaches. */
export const unreachedPosition: WalPosition = { timeline: 0, lsn: 2n ** 64n - 1n };

const timelineBytes = 4;
const lsnBytes = 8;

/** The opaque text of a place. */
export function encodeWalPosition({ timeline, lsn }: WalPosition): string {
  const bytes = Buffer.alloc(timelineBytes + lsnBytes);
  bytes.writeUInt32BE(timeline);
  bytes.writeBigUInt64BE(lsn, timelineBytes);
  return bytes.toString('base64url');
}

/** The place of a text; {@link unreachedPosition} if it is none. */
export function decodeWalPosition(text: string): WalPosition {
  if (!/^[\w-]{16}$/.test(text)) return unreachedPosition;
  const bytes = Buffer.from(text, 'base64url');
  return { timeline: bytes.readUInt32BE(), lsn: bytes.readBigUInt64BE(timelineBytes) };
}
