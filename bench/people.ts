import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hash } from '@node-rs/argon2';
import { fetchManagementToken } from '../test/support/client-credentials.ts';
import { createBenchDatabase } from './database.ts';
import { startServer } from './server.ts';

// Measures sign-in and sign-up over the Experience API, by headless applications on PostgreSQL; the token endpoint at
// the same time; and the time of answers for existing and for unknown accounts.

const seconds = Number(process.env['BENCH_SECONDS'] ?? 10);
const connections = Number(process.env['BENCH_CONNECTIONS'] ?? 8);
const samples = Number(process.env['BENCH_SAMPLES'] ?? 150);
const password = 'correct horse battery staple';
const admin = {
  id: 'app_01h455vb4pex5vsknk084sn02q',
  secret: 'a secret of more than thirty-two characters',
};

const codes = new Map<string, string>();
const waiting = new Map<string, (code: string) => void>();
const receiver = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const { recipient, code } = JSON.parse(Buffer.concat(parts).toString()) as {
      recipient: string;
      code: string | null;
    };
    response.end();
    if (code === null) return;
    const resolve = waiting.get(recipient);
    waiting.delete(recipient);
    if (resolve) resolve(code);
    else codes.set(recipient, code);
  });
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));

function codeFor(recipient: string): Promise<string> {
  const known = codes.get(recipient);
  codes.delete(recipient);
  if (known !== undefined) return Promise.resolve(known);
  return new Promise((resolve) => waiting.set(recipient, resolve));
}

const database = await createBenchDatabase();
if (!database) throw new Error('BENCH_DATABASE_URL must name a PostgreSQL.');
const server = await startServer('./server-signet.ts', {
  DATABASE_URL: database.url,
  SIGNET_SECRET: 'a secret for the bench alone, long enough',
  ADMIN_CLIENT_ID: admin.id,
  ADMIN_CLIENT_SECRET: admin.secret,
  ALLOW_PRIVATE_WEBHOOKS: 'true',
  BENCH_PROFILE: process.env['BENCH_PROFILE'] ?? '',
  // Each request comes from another client address, because one address would soon reach its limit for a minute.
  TRUST_PROXY: '1',
});
const { url, path, headers, bodies } = server.load;

let clients = 0;
const nextAddress = () => {
  clients += 1;
  return `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients & 255}`;
};

async function send(endpoint: string, authorization: string, query: string, input: object) {
  const response = await fetch(`${url}${endpoint}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': nextAddress(),
      ...(authorization === '' ? {} : { authorization }),
    },
    body: JSON.stringify({ query, variables: { input } }),
  });
  const { data, errors } = (await response.json()) as {
    data?: Record<string, Record<string, unknown>>;
    errors?: { message: string }[];
  };
  const [result] = Object.values(data ?? {});
  if (!result) throw new Error(errors?.[0]?.message ?? `${response.status}`);
  return result;
}

const capital = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);
const documentOf = (name: string, fields: string) =>
  `mutation ($input: ${capital(name)}Input!) { ${name}(input: $input) { __typename
     ... on ${capital(name)}Payload { ${fields} } ... on Error { code message } } }`;

const fieldsOf: Readonly<Record<string, string>> = {
  startInteraction: 'interactionToken',
  sendCode: 'verification { id }',
  submitInteraction: 'redirectTo',
};

async function step(name: string, input: object, token?: string) {
  const authorization = token === undefined ? '' : `Interaction ${token}`;
  const fields = fieldsOf[name] ?? 'interaction { nextSteps }';
  return send('/experience/graphql', authorization, documentOf(name, fields), input);
}

const token = await fetchManagementToken({ url }, admin);
const manage = async (name: string, fields: string, input: object) => {
  const result = await send('/graphql', `Bearer ${token}`, documentOf(name, fields), input);
  if (result['code'] !== undefined) throw new Error(`${name}: ${String(result['message'])}`);
  return result;
};

const redirectUri = 'com.example.app:/callback';
const { application } = await manage('createApplication', 'application { id }', {
  name: 'Bench',
  type: 'NATIVE',
  redirectUris: [redirectUri],
});
const { id: clientId } = application as { id: string };
await manage('updateApplication', 'application { id }', {
  id: clientId,
  allowHeadlessSignIn: true,
});
await manage('setEmailSender', 'messageSender { channel }', {
  http: {
    url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
    secret: `whsec_${Buffer.from('a secret of the bench, 32 bytes.').toString('base64')}`,
  },
});
await manage('updateSignInExperience', 'signInExperience { signUpEnabled }', {
  signUpIdentifiers: ['EMAIL'],
});
const people = Array.from({ length: samples }, (_, i) => `person_${i}@example.com`);
for (const primaryEmail of people) {
  await manage('createUser', 'user { id }', { primaryEmail, password, isEmailVerified: true });
}

const begin = async () => {
  const started = await step('startInteraction', {
    clientId,
    redirectUri,
    codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  });
  return String(started['interactionToken']);
};

const assertDone = (result: Record<string, unknown>) => {
  if (result['code'] !== undefined) throw new Error(String(result['message']));
  return result;
};

async function signIn(i: number): Promise<void> {
  const interaction = await begin();
  const identifier = people[i % people.length];
  assertDone(await step('signInWithPassword', { identifier, password }, interaction));
  assertDone(await step('submitInteraction', {}, interaction));
}

let newcomers = 0;
async function signUp(): Promise<void> {
  newcomers += 1;
  const email = `newcomer_${newcomers}@example.com`;
  const interaction = await begin();
  const sent = assertDone(await step('sendCode', { purpose: 'REGISTER', email }, interaction));
  const { id: verificationId } = sent['verification'] as { id: string };
  const code = await codeFor(email);
  assertDone(await step('verifyCode', { verificationId, code }, interaction));
  assertDone(await step('register', { verificationIds: [verificationId], password }, interaction));
  assertDone(await step('submitInteraction', {}, interaction));
}

async function exchange(i: number): Promise<void> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers,
    body: bodies[i % bodies.length] ?? '',
  });
  await response.json();
  if (!response.ok) throw new Error(`An exchange was refused: ${response.status}.`);
}

/** Runs the same work again and again, this many at once, and measures the times. */
async function repeat(count: number, forMs: number, work: (i: number) => Promise<void>) {
  const times: number[] = [];
  const start = performance.now();
  let i = 0;
  await Promise.all(
    Array.from({ length: count }, async () => {
      while (performance.now() - start < forMs) {
        i += 1;
        const from = performance.now();
        await work(i);
        times.push(performance.now() - from);
      }
    }),
  );
  return { times, perSecond: times.length / ((performance.now() - start) / 1000) };
}

/** The same for work that the server does alone, with its CPU time for each. */
async function repeatAtServer(...work: Parameters<typeof repeat>) {
  const before = await server.cpuMs();
  const result = await repeat(...work);
  return { ...result, cpuMs: ((await server.cpuMs()) - before) / result.times.length };
}

const at = (times: readonly number[], part: number) =>
  (times.toSorted((a, b) => a - b)[Math.ceil(times.length * part) - 1] ?? Number.NaN).toFixed(0);
function say(
  what: string,
  { times, perSecond, cpuMs }: Awaited<ReturnType<typeof repeat>> & { readonly cpuMs?: number },
): void {
  const cpu = cpuMs === undefined ? '' : `, CPU of the server ${cpuMs.toFixed(2)} ms each`;
  process.stdout.write(
    `${what.padEnd(40)} ${perSecond.toFixed(0).padStart(6)}/s  p50 ${at(times, 0.5)} ms, p99 ${at(times, 0.99)} ms${cpu}\n`,
  );
}

// The parameters of `users/password.ts`.
const hashing = { algorithm: 2, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

try {
  const ms = seconds * 1000;
  await repeat(connections, Math.min(ms, 5000), signIn);
  await repeat(16, Math.min(ms, 5000), exchange);
  process.stdout.write('\n');
  say(
    'bare Argon2id hashes, as many at once',
    await repeat(connections, ms, async () => void (await hash(password, hashing))),
  );
  say('sign-ins by password', await repeatAtServer(connections, ms, signIn));
  say('sign-ups by code, with a password', await repeatAtServer(connections, ms, signUp));
  say('exchanges alone, 16 connections', await repeatAtServer(16, ms, exchange));
  const [signIns, exchanges] = await Promise.all([
    repeat(connections, ms, signIn),
    repeat(16, ms, exchange),
  ]);
  say('exchanges beside sign-ins', exchanges);
  say('sign-ins beside exchanges', signIns);

  process.stdout.write(
    '\nms for an account that exists, and for one that does not: p10, p50, p90\n',
  );
  const steps: Readonly<Record<string, (address: string) => [string, object]>> = {
    'a wrong password': (identifier) => ['signInWithPassword', { identifier, password: 'wrong' }],
    'a code to sign in': (email) => ['sendCode', { purpose: 'SIGN_IN', email }],
    'a code to recover': (email) => ['sendCode', { purpose: 'RESET_PASSWORD', email }],
    'a code to register': (email) => ['sendCode', { purpose: 'REGISTER', email }],
  };
  for (const [what, stepFor] of Object.entries(steps)) {
    const times: Record<'exists' | 'missing', number[]> = { exists: [], missing: [] };
    for (let i = 0; i < samples; i += 1) {
      for (const kind of ['exists', 'missing'] as const) {
        const address = kind === 'exists' ? `person_${i}@example.com` : `nobody_${i}@example.com`;
        const interaction = await begin();
        const [name, input] = stepFor(address);
        const from = performance.now();
        await step(name, input, interaction);
        times[kind].push(performance.now() - from);
      }
    }
    const three = (list: readonly number[]) =>
      [0.1, 0.5, 0.9].map((part) => at(list, part)).join(' ');
    process.stdout.write(`${what.padEnd(24)} ${three(times.exists)}   ${three(times.missing)}\n`);
  }
} finally {
  await server.stop();
  await database.drop();
  receiver.close();
}
