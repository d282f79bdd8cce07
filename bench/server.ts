import { type ChildProcess, fork } from 'node:child_process';
import { generateKeyPairSync, type JsonWebKey, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The requests that are sent to a server in turn, again and again. */
export interface Load {
  readonly url: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodies: readonly string[];
  /** The client of the same requests that authenticates by a key; absent if there is none. */
  readonly keys?: LoadKeys;
}

/** A client with a key of its own (ES256). */
interface LoadKeys {
  readonly clientId: string;
  readonly kid: string;
  readonly privateJwk: JsonWebKey;
  /** The `aud` of its assertions. */
  readonly audience: string;
  /** The public URL of the server, if it is another one than it is asked at. */
  readonly baseUrl?: string;
}

/** Makes the key of such a client: what the server keeps, and what it announces. */
export function createLoadKeys() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kid = randomUUID();
  return {
    jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' }] },
    kid,
    privateJwk: privateKey.export({ format: 'jwk' }),
  };
}

/** A server in a separate process. */
export interface BenchServer {
  readonly load: Load;
  /** The CPU time that the process has used so far, in milliseconds. */
  cpuMs(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a server's file and waits until it announces its load. */
export function startServer(
  file: string,
  environment: Record<string, string> = {},
): Promise<BenchServer> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    env: { ...process.env, ...environment, NODE_ENV: 'production' },
    execArgv: [
      '--disable-warning=FSTDEP023',
      // A profile is written at the end: see `node --cpu-prof`.
      ...(environment['BENCH_PROFILE']
        ? [`--cpu-prof`, `--cpu-prof-dir=${environment['BENCH_PROFILE']}`]
        : []),
    ],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}.`)));
    child.once('message', (load) => {
      resolve({
        load: load as Load,
        cpuMs: () => cpuMsOf(child),
        async stop() {
          child.kill('SIGTERM');
          await exited;
        },
      });
    });
  });
}

/** The CPU time that a process has used so far, in milliseconds, if it calls {@link answerCpu}. */
export async function cpuMsOf(child: ChildProcess): Promise<number> {
  const answer = once(child, 'message') as Promise<[NodeJS.CpuUsage]>;
  child.send('cpu');
  const [usage] = await answer;
  return msOf(usage);
}

/** The CPU time of a process, in milliseconds. */
export const msOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1000;

/** Lets the parent process ask for the CPU time of this one. */
export const answerCpu = (): void =>
  void process.on('message', (message) => {
    if (message === 'cpu') process.send?.(process.cpuUsage());
  });

/** Tells the parent process that this server is ready. */
export function announce(load: Load): void {
  if (!process.send) {
    process.stdout.write(`${JSON.stringify(load, undefined, 2)}\n`);
    return;
  }
  process.send(load);
  answerCpu();
}

/** Tells the parent process of a server at whose token endpoint a client exchanges tokens. */
export const announceExchanges = (
  url: string,
  client: { readonly id: string; readonly secret: string },
  parameters: readonly Readonly<Record<string, string>>[],
  keys?: Omit<LoadKeys, 'clientId'>,
): void =>
  announce({
    url,
    ...(keys ? { keys: { clientId: client.id, ...keys } } : {}),
    path: '/oidc/token',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
    },
    bodies: parameters.map((one) =>
      new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        scope: 'read write',
        ...one,
      }).toString(),
    ),
  });

/** The number of users that take turns, so that no row or token is the only one. */
export const userCount = 100;

/** The number of subject tokens that take turns. Of more than 10,000, Signet has forgotten each before it comes again. */
export const tokenCount = Number(process.env['BENCH_TOKENS'] ?? userCount);
