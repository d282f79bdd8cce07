import { getNamedType, isEnumType, isInputObjectType } from 'graphql';
import { expect } from 'vitest';
import { createFingerprint } from '../support/operations/fingerprint.ts';
import { inputFields } from '../support/operations/operations.ts';
import { startHeadless, step } from '../support/people/experience.ts';
import { redirectUri } from '../support/people/sign-in-fixture.ts';
import { fuzz, type Gen, numberBelow, pick, rarely, several } from './drawing/fuzz.ts';
import { inputOf } from './drawing/inputs.ts';
import { damaged, hostileJson, hostileText } from './drawing/values.ts';
import { expectQuietLog } from './oracle.ts';
import { graphqlRequest, type Request } from './send.ts';
import { createWorld } from './world.ts';

const { service, admin, ask, fixture, secrets, ids: readIds } = await createWorld();
const ids = await readIds();
const fingerprint = await createFingerprint(service.app.services.database.prisma);
const client = await fixture.createApplication({ allowHeadlessSignIn: true });

const row = getNamedType(inputFields('importUsers')['users']?.type);
if (!isInputObjectType(row)) throw new Error('importUsers takes no rows.');
const fields = row.getFields();
const algorithm = Object.values(fields)
  .map(({ type }) => getNamedType(type))
  .find(isEnumType);
const algorithms = algorithm?.getValues().map(({ name }) => name) ?? [];
const salt = 'c2FsdHNhbHRzYWx0c2FsdA';

const digests = [
  `$argon2id$v=19$m=19456,t=2,p=1$${salt}$${'A'.repeat(43)}`,
  `$argon2id$v=19$m=4294967295,t=4294967295,p=16777215$${salt}$${'A'.repeat(43)}`,
  `$argon2i$v=16$m=8,t=1,p=1$${salt}$AAAA`,
  `$argon2d$v=19$m=0,t=0,p=0$$`,
  `$2b$10$${'a'.repeat(53)}`,
  `$2b$31$${'a'.repeat(53)}`,
  `$2y$04$${'.'.repeat(53)}`,
  `$2x$99$${'a'.repeat(53)}`,
  `$pbkdf2-sha256$i=2147483647$${salt}$AAAA`,
  `pbkdf2:sha256:999999999$${salt}$${'0'.repeat(64)}`,
  `$scrypt$ln=62,r=8,p=1$${salt}$AAAA`,
  'd41d8cd98f00b204e9800998ecf8427e',
  'a'.repeat(64),
  'A'.repeat(40),
  '{SSHA}AAAA',
  `$wp$2y$31$${'a'.repeat(53)}`,
  `bcrypt_sha256$$2b$04$${'.'.repeat(53)}`,
  `argon2$argon2id$v=19$m=4294967295,t=1,p=1$${salt}$${'A'.repeat(43)}`,
  `AQAAAAH/////AAAAEA${'A'.repeat(64)}`,
  `AQAAAAEAAAAB/////w${'A'.repeat(64)}`,
  `$firescrypt$ln=62,r=8,p=1$${salt}$${'A'.repeat(43)}$Bw==$${'A'.repeat(43)}`,
  `$firescrypt$ln=2,r=8,p=1$${salt}$${'A'.repeat(43)}$$${'A'.repeat(43)}`,
];

let count = 0;

function rowOf(g: Gen): unknown {
  if (rarely(g, 15)) return hostileJson(g);
  count += 1;
  const digest = pick(g, digests);
  return {
    username: `fuzz_${count}`,
    passwordAlgorithm: rarely(g, 15) ? hostileText(g) : pick(g, algorithms),
    passwordDigest: rarely(g, 3) ? damaged(g, digest) : digest,
    ...Object.fromEntries(
      Object.values(fields)
        .filter(() => rarely(g, 6))
        .map(({ name, type }) => [name, inputOf(g, type, ids)]),
    ),
  };
}

interface Outcome {
  readonly users?: readonly { readonly username: string | null }[];
}

function importing(g: Gen): { request: Request; read: (text: string) => Outcome } {
  const users = rarely(g, 10) ? hostileJson(g) : several(g, 6, () => rowOf(g));
  if (numberBelow(g, 2) === 0) {
    const query = `mutation ($input: ImportUsersInput!) { importUsers(input: $input) {
      ... on Error { message } ... on ImportUsersPayload { users { username } } } }`;
    return {
      request: graphqlRequest('/graphql', { query, variables: { input: { users } } }, admin),
      read: (text) =>
        (JSON.parse(text) as { data?: { importUsers: Outcome } }).data?.importUsers ?? {},
    };
  }
  return {
    request: { ...graphqlRequest('/api/users/import', { users }, admin) },
    read: (text) => JSON.parse(text) as Outcome,
  };
}

fuzz(
  'hostile rows are imported or refused, and whoever was imported can try to sign in',
  120,
  async (g) => {
    const { request, read } = importing(g);
    const before = await fingerprint();
    const { users = [] } = read((await ask(request)).text);
    if (users.length === 0) {
      expect(await fingerprint(), String(request.body)).toEqual(before);
      return;
    }
    await service.app.services.database.prisma.addressCount.deleteMany();
    for (const { username } of users.slice(0, 2)) {
      if (username === null) continue;
      const { send } = await startHeadless(service, { clientId: client.id, redirectUri });
      const sent = { identifier: username, password: 'a guess that is wrong' };
      const { __typename: result } = await step(send, 'signInWithPassword', sent);
      expect(result, String(request.body)).toBe('VerificationFailedError');
    }
    expectQuietLog(service, secrets, String(request.body));
  },
);
