import { beforeAll, describe, test } from 'vitest';
import { seedDirectory } from '../../support/operations/directory.ts';
import { expectAccessible } from '../../support/peers/axe.ts';
import { chromiumPath } from '../../support/peers/chromium.ts';
import { startConsoleAtWork } from '../../support/people/console-screen.ts';
import { createWebhook } from '../../support/webhooks.ts';

/** The pages of records, by the kind whose id is in the address, with what is opened on them. */
const pages = [
  ['users/user', ''],
  ['users/user', '?tab=roles'],
  ['users/user', '?tab=organizations'],
  ['users/user', '?tab=permissions'],
  ['users/user', '?tab=sessions'],
  ['users/user', '?tab=factors'],
  ['users/user', '?tab=access'],
  ['users/user', '?tab=events'],
  ['roles/role', ''],
  ['roles/role', '?tab=holders'],
  ['apis/resource', ''],
  ['applications/application', ''],
  ['applications/application', '?tab=security'],
  ['applications/application', '?tab=consents'],
  ['applications/agent', ''],
  ['applications/agent', '?tab=consents'],
  ['applications/machine', '?tab=roles'],
  ['applications/machine', '?tab=security'],
  ['agents', ''],
  ['agents', '?tab=admission'],
  ['agents', '?tab=trust'],
  ['applications/machine', '?tab=trust'],
  ['applications/machine', '?tab=permissions'],
  ['organizations/organization', ''],
  ['organizations/organization', '?tab=invitations'],
  ['organizations/organization', '?tab=just-in-time'],
  ['organizations/organization', '?tab=settings'],
  ['organizations', '?tab=template'],
  ['webhooks/webhook', ''],
  ['webhooks/webhook', '?tab=settings'],
  ['users', '?create=true'],
  ['applications', '?create=true'],
  ['webhooks', '?create=true'],
] as const;

describe.runIf(chromiumPath)('the pages of records', async () => {
  if (!chromiumPath) return;
  const at = await startConsoleAtWork();
  const ids = new Map<string, string>();

  async function api<Body>(method: string, path: string, body: object): Promise<Body> {
    const response = await fetch(`${at.service.url}/api${path}`, {
      method,
      headers: {
        authorization: `Bearer ${at.endpoint.token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Body;
  }

  async function create(kind: string, path: string, body: object): Promise<string> {
    const answer = await api<Record<string, { id: string }>>('POST', path, body);
    const { id } = Object.values(answer)[0] ?? {};
    if (!id) throw new Error(`No id in ${JSON.stringify(answer)}`);
    ids.set(kind, id);
    return id;
  }

  beforeAll(async () => {
    const resource = await create('resource', '/resources', {
      name: 'Orders',
      indicator: 'https://orders.example.com',
    });
    const scope = await create('scope', `/resources/${resource}/scopes`, { name: 'orders:read' });
    const role = await create('role', '/roles', { name: 'Clerk', type: 'USER', scopeIds: [scope] });
    const user = await create('user', '/users', { username: 'grace', name: 'Grace Hopper' });
    await api('POST', `/users/${user}/roles`, { roleIds: [role] });
    await create('application', '/applications', {
      name: 'Shop',
      type: 'TRADITIONAL',
      redirectUris: ['https://shop.example.com/callback'],
      allowTokenExchange: true,
    });
    const directory = seedDirectory(at.service.testDatabase.database, at.service.clock);
    const agent = await directory.createClient({
      name: 'Assistant',
      type: 'SPA',
      origin: 'METADATA_DOCUMENT',
      metadataUrl: 'https://assistant.example.com/client.json',
      isThirdParty: true,
    });
    await directory.createGrant(user, agent.id);
    ids.set('agent', agent.id);
    await create('machine', '/applications', { name: 'Nightly', type: 'MACHINE_TO_MACHINE' });
    const organizationRole = await create('organizationRole', '/organization-roles', {
      name: 'Owner',
    });
    const organization = await create('organization', '/organizations', { name: 'Harbour' });
    await api('POST', `/organizations/${organization}/users`, { userIds: [user] });
    await create('invitation', '/organization-invitations', {
      organizationId: organization,
      invitee: 'joan@example.com',
      organizationRoleIds: [organizationRole],
    });
    const webhook = await createWebhook(at.endpoint, {
      url: 'https://warehouse.example.com/hooks',
      enabled: false,
    });
    ids.set('webhook', webhook.id);
  });

  test.each(pages)('/%s%s is shown to axe, dark and narrow too', async (path, query) => {
    const [list = '', kind = ''] = path.split('/');
    await at.comeTo(`${kind ? `${list}/${ids.get(kind)}` : list}${query}`);
    await at.page.locator('[role=progressbar]').first().waitFor({ state: 'detached' });
    if (query === '?create=true') await at.page.getByRole('dialog').waitFor();
    await expectAccessible(at.page, path);
  });
});
