/** What a check came to. */
export interface Finding {
  readonly check: string;
  /**
   * `warning`: it works, and should be looked at. `fault`: something does not work. `skipped`: it could not be looked at,
   * and the message says why.
   */
  readonly state: 'ok' | 'warning' | 'fault' | 'skipped';
  /** What was found, in one sentence. Never a secret, nor a URL that may hold one. */
  readonly message: string;
  /** What to do. */
  readonly advice?: string;
}

/** Collects findings of one check after the other. */
export class Findings {
  readonly all: Finding[] = [];

  ok(check: string, message: string): void {
    this.all.push({ check, state: 'ok', message });
  }

  warn(check: string, message: string, advice: string): void {
    this.all.push({ check, state: 'warning', message, advice });
  }

  fault(check: string, message: string, advice: string): void {
    this.all.push({ check, state: 'fault', message, advice });
  }

  skip(check: string, message: string): void {
    this.all.push({ check, state: 'skipped', message });
  }
}

/** The longest that one check waits for an answer. */
export const patienceMs = 5_000;

const meanings: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'no name server knows the host',
  EAI_AGAIN: 'no name server answers',
  EHOSTUNREACH: 'no route leads there',
  ENETUNREACH: 'no route leads there',
  ECONNRESET: 'the connection was closed before the answer',
  ETIMEDOUT: 'there was no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'there was no answer in time',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is self-signed',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate lacks the one that signed it',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

/** Why something could not be reached, in plain words. */
export function whyNot(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const [first] = cause instanceof AggregateError ? cause.errors : [];
    if (first) return whyNot(first);
    const { code } = cause as { readonly code?: unknown };
    if (typeof code === 'string' && meanings[code]) return meanings[code];
    if (cause.name === 'TimeoutError') return 'there was no answer in time';
    if (!cause.cause) return cause.message || String(code ?? 'it failed');
  }
  return 'it failed';
}
