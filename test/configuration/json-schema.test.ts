import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { apply, readConfiguration } from '../support/operations/configuration.ts';
import { startService } from '../support/service.ts';

const service = await startService({ ALLOW_PRIVATE_WEBHOOKS: 'true' });
const admin = { url: service.url, token: await service.managementToken() };
const response = await fetch(`${service.url}/api/configuration.schema.json`);
const schema = await response.json();
// Formats are hints; the operations check values.
const validate = new Ajv2020({
  strict: true,
  validateFormats: false,
  allowUnionTypes: true,
}).compile(schema);

test('accepts what is exported', async () => {
  await apply(admin, {
    resources: [{ indicator: 'https://api.example.com', name: 'API', scopes: [{ name: 'read' }] }],
    roles: [{ name: 'Reader', scopes: { 'https://api.example.com': ['read'] } }],
    applications: [
      { name: 'App', type: 'SPA' },
      {
        name: 'Service',
        type: 'MACHINE_TO_MACHINE',
        trustedIssuers: [
          {
            name: 'Pipelines',
            kind: 'WORKLOAD',
            issuer: 'https://ci.example.com',
            jwksUri: 'http://127.0.0.1:9/jwks',
            claimRules: [{ claim: 'sub', equals: 'x' }],
          },
        ],
        crossAppConnections: [{ issuer: 'https://id.example.com', clientId: 'service' }],
      },
    ],
    webhooks: [{ name: 'Hook', url: 'http://127.0.0.1:9/', headers: { 'X-Key': 'key' } }],
    messageSenders: {
      email: { smtp: { host: '127.0.0.1', username: 'a', password: 'b', from: 'a@example.com' } },
    },
    identityProviders: [
      { name: 'Provider', kind: 'SOCIAL', issuer: 'http://127.0.0.1:9', clientId: 'signet' },
    ],
  });
  const { document } = await readConfiguration(admin);
  expect(validate(parse(document)), JSON.stringify(validate.errors)).toBe(true);
});

test.each([
  [{}],
  [{ signet: 2 }],
  [{ signet: 1, users: [] }],
  [{ signet: 1, roles: [{}] }],
  [{ signet: 1, roles: [{ name: 'x', colour: 'red' }] }],
  [{ signet: 1, roles: [{ name: 'x', type: 'GOD' }] }],
  [{ signet: 1, roles: [{ name: 'x', scopes: ['read'] }] }],
  [{ signet: 1, applications: [{ name: 'x', trustedIssuers: [{ kind: 'WORKLOAD' }] }] }],
  [{ signet: 1, applications: [{ name: 'x', crossAppConnections: [{ issuer: 5 }] }] }],
  [{ signet: 1, identityProviders: [{ name: 'x', clientSecret: { environment: 'X' } }] }],
  [{ signet: 1, messageSenders: { fax: {} } }],
])('refuses %j', (document) => {
  expect(validate(document)).toBe(false);
});
