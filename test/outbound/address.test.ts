import { expect, test } from 'vitest';
import { isPublicAddress } from '../../src/outbound/address.ts';
import { graphql, send } from '../support/operations/graphql.ts';
import { startReceiver } from '../support/peers/receiver.ts';
import { selfSigned } from '../support/peers/self-signed.ts';
import { startService } from '../support/service.ts';
import { adminOf, attempted, createUser, createWebhook } from '../support/webhooks.ts';

const names = new Map<string, string[]>();
const service = await startService(
  {},
  {
    resolveHost: async (host) => {
      const addresses = names.get(host);
      if (!addresses)
        throw Object.assign(new Error(`no such host: ${host}`), { code: 'ENOTFOUND' });
      return addresses;
    },
  },
);
// A retry would come when its time has.
service.clock.freeze();

const CreateWebhook = graphql(`
  mutation CreateWebhookAnywhere($input: CreateWebhookInput!) {
    createWebhook(input: $input) {
      __typename
      ... on InvalidInputError { issues { path message } }
    }
  }
`);

async function register(url: string) {
  const { data } = await send(await adminOf(service), CreateWebhook, {
    input: { name: 'Anywhere', url },
  });
  return data?.createWebhook;
}

const refused = expect.objectContaining({
  __typename: 'InvalidInputError',
  issues: [expect.objectContaining({ path: ['url'] })],
});

const privateAddresses = [
  ['unspecified', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['private', '10.1.2.3'],
  ['private', '172.31.255.255'],
  ['private', '192.168.0.1'],
  ['carrier-grade NAT', '100.64.0.1'],
  ['loopback', '127.0.0.1'],
  ['loopback', '127.255.255.254'],
  ['link-local, metadata', '169.254.169.254'],
  ['reserved', '192.0.0.1'],
  ['documentation', '203.0.113.7'],
  ['benchmarks', '198.18.0.1'],
  ['multicast', '224.0.0.1'],
  ['reserved', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['unspecified', '::'],
  ['loopback', '::1'],
  ['IPv4-compatible', '::127.0.0.1'],
  ['IPv4-mapped', '::ffff:127.0.0.1'],
  ['IPv4-mapped', '::ffff:a9fe:a9fe'],
  ['IPv4-translated', '::ffff:0:127.0.0.1'],
  ['NAT64', '64:ff9b::7f00:1'],
  ['NAT64, local', '64:ff9b:1::7f00:1'],
  ['6to4', '2002:7f00:1::'],
  ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['unique local', 'fd00::1'],
  ['unique local, metadata', 'fd00:ec2::254'],
  ['link-local', 'fe80::1'],
  ['site-local', 'fec0::1'],
  ['multicast', 'ff02::1'],
  ['documentation', '2001:db8::1'],
  ['discard', '100::1'],
] as const;

test.each(privateAddresses)('an address that is %s is not public: %s', (_kind, address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(['93.184.216.34', '8.8.8.8', '2606:2800:220:1:248:1893:25c8:1946'])(
  'accepts %s as a public address',
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test.each(privateAddresses)('refuses a URL whose host is %s: %s', async (_kind, address) => {
  const host = address.includes(':') ? `[${address}]` : address;
  expect(await register(`https://${host}/hook`)).toEqual(refused);
  names.set('inside.example.com', [address]);
  expect(await register('https://inside.example.com/hook')).toEqual(refused);
});

test.each([
  ['http', 'http://example.com/'],
  ['another scheme', 'ftp://example.com/'],
  ['no URL', 'example.com'],
  ['credentials', 'https://user:password@example.com/'],
  ['loopback as a number', 'https://2130706433/'],
  ['loopback in octal', 'https://0177.0.0.1/'],
  ['loopback cut short', 'https://127.1/'],
])('refuses a URL with %s', async (_what, url) => {
  expect(await register(url)).toEqual(refused);
});

test('refuses a name with a public and a private address', async () => {
  names.set('both.example.com', ['93.184.216.34', '10.0.0.1']);
  expect(await register('https://both.example.com/')).toEqual(refused);
});

test('accepts a public name and an unresolved one', async () => {
  names.set('public.example.com', ['93.184.216.34']);
  expect(await register('https://public.example.com/')).toEqual({
    __typename: 'CreateWebhookPayload',
  });
  expect(await register('https://later.example.com/')).toEqual({
    __typename: 'CreateWebhookPayload',
  });
});

const unreached = { statusCode: null, error: 'the host does not have a public address' };

test('never connects to a name that later leads inside', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver({ tls: selfSigned });
  const { port } = new URL(receiver.url);
  names.set('rebound.example.com', ['93.184.216.34']);
  const { id } = await createWebhook(admin, { url: `https://rebound.example.com:${port}/` });
  names.set('rebound.example.com', ['127.0.0.1']);
  await createUser(admin);
  const { delivery } = await attempted(admin, id);
  expect(delivery?.attempts[0]).toMatchObject(unreached);
  expect(receiver.received).toEqual([]);
});

test('never connects to a private address registered earlier', async () => {
  const admin = await adminOf(service);
  const receiver = await startReceiver();
  names.set('public.example.com', ['93.184.216.34']);
  const { id } = await createWebhook(admin, { url: 'https://public.example.com/' });
  await service.app.services.database.prisma.webhook.update({
    where: { id },
    data: { url: receiver.url, revision: { increment: 1 } },
  });
  await createUser(admin);
  const { delivery } = await attempted(admin, id);
  expect(delivery?.attempts[0]).toMatchObject(unreached);
  expect(receiver.received).toEqual([]);
});
