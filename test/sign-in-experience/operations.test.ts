import { expect, test } from 'vitest';
import {
  defaultSignInExperience,
  readSignInExperience,
} from '../../src/sign-in-experience/settings.ts';
import { ask, graphql, payload, send } from '../support/operations/graphql.ts';
import { callRest } from '../support/operations/rest.ts';
import { startService } from '../support/service.ts';

const service = await startService();
const { prisma } = service.app.services.database;
const endpoint = { url: service.url, token: await service.managementToken() };

const Read = graphql(`
  query ReadSignInExperience {
    signInExperience {
      signUpEnabled signUpIdentifiers signInIdentifiers passwordEnabled codeEnabled
      passwordPolicy { minLength rejectCommon rejectUserData blocklist }
      codePolicy { ttlSeconds maxAttempts sendLimit sendWindowSeconds }
      lockoutPolicy { maxAttempts windowSeconds lockSeconds }
      factors factorPolicy
      sessionPolicy { idleSeconds maxSeconds }
      branding { productName logoUrl primaryColor termsUrl privacyUrl }
      defaultLanguage
    }
  }
`);
const Update = graphql(`
  mutation UpdateSignInExperience($input: UpdateSignInExperienceInput!) {
    updateSignInExperience(input: $input) {
      __typename
      ... on UpdateSignInExperiencePayload { signInExperience { passwordPolicy { minLength } } }
      ... on InvalidInputError { issues { path message } }
    }
  }
`);
const read = async () => (await ask(endpoint, Read)).signInExperience;
const update = async (input: object) =>
  (await ask(endpoint, Update, { input })).updateSignInExperience;

test('has its defaults until someone changes it', async () => {
  expect(await read()).toEqual(defaultSignInExperience);
});

test('changes the given fields of a group; null restores defaults', async () => {
  const changed = await update({
    signUpIdentifiers: ['EMAIL', 'USERNAME', 'EMAIL'],
    passwordPolicy: { minLength: 15, blocklist: ['Acme', 'Acme'] },
    branding: {
      productName: 'Acme',
      primaryColor: '#1D4ED8',
      logoUrl: 'https://example.com/l.png',
    },
    factors: ['TOTP'],
    defaultLanguage: 'de',
  });
  expect(changed).toMatchObject({ signInExperience: { passwordPolicy: { minLength: 15 } } });
  payload(
    await update({ passwordPolicy: { rejectCommon: false } }),
    'UpdateSignInExperiencePayload',
  );
  const { passwordPolicy, branding } = defaultSignInExperience;
  expect(await read()).toEqual({
    ...defaultSignInExperience,
    signUpIdentifiers: ['EMAIL', 'USERNAME'],
    passwordPolicy: { ...passwordPolicy, minLength: 15, rejectCommon: false, blocklist: ['Acme'] },
    branding: {
      ...branding,
      productName: 'Acme',
      primaryColor: '#1D4ED8',
      logoUrl: 'https://example.com/l.png',
    },
    factors: ['TOTP'],
    defaultLanguage: 'de',
  });

  await update({
    signUpIdentifiers: null,
    passwordPolicy: null,
    branding: { productName: null, logoUrl: null, primaryColor: null },
    factors: null,
    defaultLanguage: null,
  });
  expect(await readSignInExperience(prisma)).toEqual(defaultSignInExperience);
});

test('reports every fault by its path, and changes nothing', async () => {
  const refused = await update({
    signInIdentifiers: [],
    codePolicy: { ttlSeconds: 601, maxAttempts: 0 },
    branding: { primaryColor: 'red' },
  });
  expect(refused).toMatchObject({
    issues: [
      { path: ['signInIdentifiers'] },
      { path: ['codePolicy', 'ttlSeconds'] },
      { path: ['codePolicy', 'maxAttempts'] },
      { path: ['branding', 'primaryColor'] },
    ],
  });
  expect(await read()).toEqual(defaultSignInExperience);
});

test('keeps both of two concurrent changes', async () => {
  await Promise.all([
    update({ lockoutPolicy: { maxAttempts: 5 } }),
    update({ lockoutPolicy: { lockSeconds: 60 } }),
    update({ codePolicy: { sendLimit: 3 } }),
  ]);
  expect(await read()).toMatchObject({
    lockoutPolicy: { maxAttempts: 5, windowSeconds: 3600, lockSeconds: 60 },
    codePolicy: { sendLimit: 3 },
  });
});

test.each([
  ['experience:read', 200, 'FORBIDDEN'],
  ['experience:write', 200, undefined],
  ['users:write', 403, 'FORBIDDEN'],
])('requires the scopes of the area: %s', async (scope, readStatus, writeCode) => {
  const token = await service.managementToken(scope);
  const reading = await send({ url: service.url, token }, Read);
  expect(reading.status).toBe(readStatus);
  const writing = await send({ url: service.url, token }, Update, { input: {} });
  expect(writing.errors?.[0]?.extensions['code']).toBe(writeCode);
});

test('is available over REST too', async () => {
  const { status, body } = await callRest(endpoint, 'GET', '/sign-in-experience');
  expect(status).toBe(200);
  expect(body).toMatchObject({ signInExperience: { defaultLanguage: 'en' } });
});
