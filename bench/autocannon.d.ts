// autocannon has no types; these cover what is used here.
declare module 'autocannon' {
  interface Request {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    /** Makes the request anew each time. */
    readonly setupRequest?: (request: { body?: string }) => {
      headers?: Record<string, string>;
      body?: string;
    };
  }
  interface Options {
    readonly url: string;
    readonly connections: number;
    /** In seconds; or so many requests. */
    readonly duration?: number;
    readonly amount?: number;
    readonly requests: readonly Request[];
    /** Called with each connection before it begins. */
    readonly setupClient?: (client: { setRequests(requests: readonly Request[]): void }) => void;
  }
  interface Result {
    readonly duration: number;
    readonly non2xx: number;
    readonly errors: number;
    readonly requests: { readonly total: number };
    readonly latency: { readonly p50: number; readonly p99: number };
  }
  export default function autocannon(options: Options): Promise<Result>;
}
