import { seedDirectory } from '../operations/directory.ts';
import type { Receiver } from '../peers/receiver.ts';
import type { TestService } from '../service.ts';
import { eventually } from '../wait.ts';

/** Ids of records, by the names that they have below. */
export type Harbour = ReadonlyMap<string, string>;

const hour = 3_600_000;
const indicator = 'https://orders.harbour.example';

const people = [
  ['Grace Hopper', 'grace'],
  ['Katherine Johnson', 'katherine'],
  ['Barbara Liskov', 'barbara'],
  ['Edsger Dijkstra', 'edsger'],
  ['Tony Hoare', 'tony'],
  ['Frances Allen', 'frances'],
  ['Donald Knuth', 'donald'],
  ['Radia Perlman', 'radia'],
  ['Leslie Lamport', 'leslie'],
  ['Margaret Hamilton', 'margaret'],
  ['Dennis Ritchie', 'dennis'],
  ['Jean Bartik', 'jean'],
  ['Alan Kay', 'alan'],
  ['Adele Goldberg', 'adele'],
] as const;

/** Fills a service with what a freight company would have, over the days before now by its clock. */
export async function furnish(service: TestService, warehouse: Receiver): Promise<Harbour> {
  const ids = new Map<string, string>();
  const started = service.clock.now().getTime();
  service.clock.advance(-14 * hour);
  let token = await service.managementToken();
  let sentAt = service.clock.now().getTime();

  async function api(method: string, path: string, body: object = {}) {
    // Some minutes lie between one thing and the next; a token lasts an hour.
    service.clock.advance(9 * 60_000 + ids.size * 4_000);
    if (service.clock.now().getTime() - sentAt > hour / 2) {
      token = await service.managementToken();
      sentAt = service.clock.now().getTime();
    }
    const response = await fetch(`${service.url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as Record<string, { id: string }>);
  }
  async function create(name: string, path: string, body: object): Promise<string> {
    const answer = await api('POST', path, body);
    const { id } = Object.values(answer).find((value) => value?.id) ?? {};
    if (!id) throw new Error(`${path} gave no id.`);
    ids.set(name, id);
    return id;
  }

  const orders = await create('Orders', '/resources', { name: 'Orders', indicator });
  const scopeIds: string[] = [];
  for (const [name, description] of [
    ['orders:read', 'See orders and their state'],
    ['orders:write', 'Place and change orders'],
    ['orders:cancel', 'Cancel orders that have not left'],
  ] as const) {
    scopeIds.push(await create(name, `/resources/${orders}/scopes`, { name, description }));
  }
  await create('Billing', '/resources', {
    name: 'Billing',
    indicator: 'https://billing.harbour.example',
  });
  await create('Dispatcher', '/roles', {
    name: 'Dispatcher',
    description: 'Plans what leaves when',
    type: 'USER',
    scopeIds,
  });
  await create('Night jobs', '/roles', {
    name: 'Night jobs',
    description: 'Reads orders for the reports',
    type: 'MACHINE_TO_MACHINE',
    scopeIds: scopeIds.slice(0, 1),
  });
  await create('Shop', '/applications', {
    name: 'Customer portal',
    description: 'Where customers book and follow freight',
    type: 'TRADITIONAL',
    redirectUris: ['https://portal.harbour.example/callback'],
    postLogoutRedirectUris: ['https://portal.harbour.example/'],
    allowTokenExchange: true,
    exchangeResources: [indicator],
  });
  await create('Driver app', '/applications', {
    name: 'Driver app',
    type: 'NATIVE',
    redirectUris: ['com.harbour.driver:/callback'],
  });
  await create('Reports', '/applications', { name: 'Nightly reports', type: 'MACHINE_TO_MACHINE' });
  await create('invite:member', '/organization-scopes', {
    name: 'invite:member',
    description: 'Ask people to join',
  });
  const owner = await create('Owner', '/organization-roles', {
    name: 'Owner',
    description: 'Runs the account of the company',
    organizationScopeIds: [ids.get('invite:member')],
    scopeIds: scopeIds.slice(0, 2),
  });
  await create('Clerk', '/organization-roles', { name: 'Clerk', scopeIds: scopeIds.slice(0, 1) });
  for (const [name, username] of people) {
    await create(name, '/users', {
      username,
      name,
      primaryEmail: `${username}@${username < 'g' ? 'northwind' : 'harbour'}.example`,
    });
  }
  const id = (name: string) => ids.get(name) ?? '';
  const grace = `/users/${id('Grace Hopper')}`;
  const expiresAt = new Date(Date.now() + 90 * 86_400_000).toISOString();
  await api('POST', `${grace}/personal-access-tokens`, {
    name: 'Terminal',
    resource: indicator,
    scopes: ['orders:read'],
    expiresAt,
  });
  await api('POST', `${grace}/personal-access-tokens`, { name: 'Night export', expiresAt });
  await api('POST', `${grace}/subject-tokens`, { reason: 'Ticket 4711: an order is missing' });
  for (const [name, description] of [
    ['Northwind Bakery', 'Flour and bread, twice a week'],
    ['Meridian Instruments', 'Fragile goods'],
    ['Blue Fjord Salmon', 'Cooled, from Bergen'],
    ['Atlas Tiles', 'Heavy goods by rail'],
  ]) {
    await create(name ?? '', '/organizations', { name, description });
  }
  const bakery = id('Northwind Bakery');
  await api('POST', `/organizations/${bakery}/users`, {
    userIds: ['Barbara Liskov', 'Edsger Dijkstra', 'Frances Allen', 'Adele Goldberg'].map(id),
  });
  await api('POST', `/organizations/${bakery}/users/${id('Barbara Liskov')}/roles`, {
    organizationRoleIds: [owner],
  });
  await create('invitation', '/organization-invitations', {
    organizationId: bakery,
    invitee: 'joan@northwind.example',
    organizationRoleIds: [id('Clerk')],
  });
  await api('POST', `/users/${id('Grace Hopper')}/roles`, { roleIds: [id('Dispatcher')] });
  await api('PATCH', `/users/${id('Tony Hoare')}/is-suspended`, { isSuspended: true });
  await api('PATCH', `/users/${id('Katherine Johnson')}`, { name: 'Katherine G. Johnson' });

  await introduceAgents(service, [id('Grace Hopper'), id('Tony Hoare'), id('Alan Kay')]);
  await api('PATCH', '/service-settings', {
    clientRegistration: {
      metadataDocuments: 'LISTED',
      metadataHosts: ['assistant.northwind.example', 'agents.example.com'],
      dynamic: 'INITIAL_ACCESS_TOKEN',
    },
  });
  await api('POST', '/registration-tokens', { expiresAt, maxUses: 20 });
  await create('Deployments', '/trusted-issuers', {
    name: 'Deployments of the reports',
    kind: 'WORKLOAD',
    issuer: 'https://token.actions.githubusercontent.com',
    jwksUri: 'https://token.actions.githubusercontent.com/.well-known/jwks',
    claimRules: [
      { claim: 'repository', equals: 'harbour/reports' },
      { claim: 'ref', equals: 'refs/heads/main' },
    ],
    applicationId: id('Reports'),
  });
  await create('Northwind sign-in', '/trusted-issuers', {
    name: 'People of Northwind',
    kind: 'IDENTITY',
    issuer: 'https://id.northwind.example/oidc',
    jwksUri: 'https://id.northwind.example/oidc/jwks',
    applicationId: id('Shop'),
  });
  await create('Customs', '/cross-app-connections', {
    applicationId: id('Shop'),
    issuer: 'https://id.customs.example',
    clientId: 'harbour-portal',
    scopes: ['declarations:read', 'declarations:write'],
  });

  const { port } = new URL(warehouse.url);
  const webhook = await create('Warehouse', '/webhooks', {
    name: 'Warehouse',
    url: `http://warehouse.harbour.example:${port}/hooks/signet`,
    events: ['USER_CREATED', 'USER_DATA_UPDATED', 'ORGANIZATION_MEMBERSHIP_UPDATED'],
  });
  await create('Search index', '/webhooks', {
    name: 'Search index',
    url: 'https://search.harbour.example/signet',
    events: ['USER_CREATED', 'USER_DATA_UPDATED', 'USER_DELETED'],
    enabled: false,
  });
  const { received } = warehouse;
  for (const [name, to, status] of [
    ['Radia Perlman', 'Radia J. Perlman', 204],
    ['Leslie Lamport', 'Leslie B. Lamport', 204],
    ['Alan Kay', 'Alan C. Kay', 503],
    ['Donald Knuth', 'Donald E. Knuth', 204],
  ] as const) {
    warehouse.answerWith((response) =>
      response.writeHead(status).end(status === 503 ? 'Stocktaking until 14:00' : ''),
    );
    const { length } = received;
    await api('PATCH', `/users/${id(name)}`, { name: to });
    await warehouse.until(() => received.length > length);
  }
  warehouse.answerWith((response) => response.writeHead(503).end('Stocktaking until 14:00'));
  await api('PATCH', `/organizations/${bakery}`, { description: 'Flour and bread, every morning' });
  await api('DELETE', `/organizations/${bakery}/users/${id('Adele Goldberg')}`);
  await eventually(() => {
    if (received.length < 6) throw new Error(`${received.length} of 6 have arrived.`);
  });
  const { now } = service.clock;
  if (now().getTime() > started) throw new Error('So much does not fit into the time before.');
  service.clock.advance(started - now().getTime());
  ids.set('webhook', webhook);
  return ids;
}

/** Lets applications have come by themselves, as their documents and registrations leave them. */
async function introduceAgents(service: TestService, people: readonly string[]): Promise<void> {
  const { database } = service.testDatabase;
  const directory = seedDirectory(database, service.clock);
  const agents = [
    {
      name: 'Northwind Assistant',
      type: 'SPA',
      origin: 'METADATA_DOCUMENT',
      metadataUrl: 'https://assistant.northwind.example/client.json',
    },
    {
      name: 'Freight planner',
      type: 'SPA',
      origin: 'METADATA_DOCUMENT',
      metadataUrl: 'https://agents.example.com/freight.json',
    },
    {
      name: 'Desk agent',
      type: 'NATIVE',
      origin: 'DYNAMIC_REGISTRATION',
      redirectUris: ['http://127.0.0.1/callback'],
    },
  ] satisfies Parameters<typeof directory.createClient>[0][];
  for (const [index, agent] of agents.entries()) {
    service.clock.advance(hour / 4);
    const { id } = await directory.createClient({ ...agent, isThirdParty: true });
    for (const person of people.slice(index)) {
      const grant = await directory.createGrant(person, id);
      await database.prisma.userGrant.update({
        where: { id: grant.id },
        data: { lastUsedAt: service.clock.now() },
      });
    }
  }
}
