import { expect, test } from 'vitest';
import { startDocumentServer } from '../../support/mcp/document-server.ts';
import { callRest } from '../../support/operations/rest.ts';
import { authorize } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';

const documents = await startDocumentServer();
const service = await startService(
  {},
  {
    resolveHost: async (host) =>
      host === 'mixed.example.com' ? ['93.184.216.34', '127.0.0.1'] : ['127.0.0.1'],
  },
);
const { prisma } = service.app.services.database;

test.each([
  ['a name of this machine', (port: string) => `https://localhost:${port}/client-1.json`],
  [
    'a name that leads inside',
    (port: string) => `https://inside.example.com:${port}/client-1.json`,
  ],
  [
    'a name that leads inside too',
    (port: string) => `https://mixed.example.com:${port}/client-1.json`,
  ],
  ['an address of this machine', (port: string) => `https://127.0.0.1:${port}/client-1.json`],
  ['an address in IPv6', (port: string) => `https://[::1]:${port}/client-1.json`],
  ['a mapped address', (port: string) => `https://[::ffff:7f00:1]:${port}/client-1.json`],
  ['the address of a cloud’s metadata', () => 'https://169.254.169.254/latest/meta-data'],
  ['no TLS', (port: string) => `http://localhost:${port}/client-1.json`],
])('no document is read at %s, and the answer does not say why', async (_, urlAt) => {
  const token = await service.managementToken();
  await callRest({ url: service.url, token }, 'PATCH', '/service-settings', {
    clientRegistration: { metadataDocuments: 'ANY' },
  });
  const id = documents.client();
  const { url } = await authorize(service, { id: urlAt(new URL(id).port) });
  const response = await fetch(url, { redirect: 'manual' });
  expect(response.status).toBe(400);
  expect(await response.text()).toMatch(/the document cannot be fetched|it must be https/);
  expect(documents.askedInAll()).toBe(0);
  expect(await prisma.application.count({ where: { origin: 'METADATA_DOCUMENT' } })).toBe(0);
});
