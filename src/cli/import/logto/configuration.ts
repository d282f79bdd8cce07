import { type EventName, eventNames } from '../../../events/catalogue/catalogue.ts';
import type { Draft, ScopeName } from '../draft.ts';
import type { Part } from '../part.ts';
import { exactUris } from '../uris.ts';
import { readConnector, readSsoConnector } from './connectors.ts';
import type { Sections } from './sections.ts';
import { readSignIn } from './sign-in.ts';

const types: Readonly<Record<string, string>> = {
  Traditional: 'TRADITIONAL',
  SPA: 'SPA',
  Native: 'NATIVE',
  MachineToMachine: 'MACHINE_TO_MACHINE',
};

/** How each route is read, in the order in which records name others. */
const readers: Readonly<
  Record<string, (part: Part, draft: Draft, indicators: ReadonlyMap<string, string>) => void>
> = {
  resources: readResource,
  roles: readRole,
  organizationScopes: readOrganizationScope,
  organizationRoles: readOrganizationRole,
  applications: readApplication,
  hooks: readHook,
  connectors: readConnector,
  ssoConnectors: readSsoConnector,
  signInExp: readSignIn,
};

/** Reads the configuration of Logto, as its management API answers it. */
export function readLogto(sections: Sections, draft: Draft): void {
  const indicators = new Map(
    (sections.get('resources') ?? []).map((resource) => [
      resource.text('id') ?? '',
      resource.text('indicator') ?? '',
    ]),
  );
  for (const [route, read] of Object.entries(readers)) {
    for (const part of sections.get(route) ?? []) read(part, draft, indicators);
  }
  for (const [route, parts] of sections) {
    const [first] = parts;
    if (!first || route === 'users' || Object.hasOwn(readers, route)) continue;
    first.findings.say(`${route} (${parts.length})`, 'not taken: it is no configuration of Signet');
  }
}

function readResource(part: Part, draft: Draft): void {
  const indicator = part.text('indicator') ?? '';
  if (/\.logto\.app\/(api|me)$/.test(indicator)) {
    part.leave('is not taken: it is an API of Logto itself');
    return;
  }
  if (!part.has('scopes')) part.leave('has no field scopes: ask for it with ?includeScopes=true');
  draft.resource(
    part,
    {
      indicator,
      name: part.text('name'),
      accessTokenTtlSeconds: part.number('accessTokenTtl'),
    },
    part
      .list('scopes')
      .map((scope) => [
        scope,
        { name: scope.text('name'), description: scope.text('description') },
      ]),
  );
  part.ignore('id', 'tenantId');
  part.leaveUnread();
}

/** The scopes of a role: each names its resource, or has it. */
const scopesOf = (
  part: Part,
  field: string,
  indicators: ReadonlyMap<string, string>,
): ScopeName[] =>
  part.list(field).map((scope) => {
    const indicator = scope.has('resource') ? scope.get('resource').text('indicator') : undefined;
    const known = indicators.get(scope.text('resourceId') ?? '');
    return [indicator ?? known ?? '', scope.text('name') ?? ''];
  });

/** The fields that roles of both kinds have. */
const fieldsOf = (part: Part) => ({
  name: part.text('name'),
  description: part.text('description'),
  type: part.text('type') === 'MachineToMachine' ? 'MACHINE_TO_MACHINE' : 'USER',
});

function readRole(part: Part, draft: Draft, indicators: ReadonlyMap<string, string>): void {
  if (part.text('name')?.startsWith('#internal:')) return;
  if (!part.has('scopes')) part.leave('has no field scopes: ask for /roles/ID/scopes, and add it');
  const isDefault = part.flag('isDefault') ? true : undefined;
  draft.role(part, { ...fieldsOf(part), isDefault }, scopesOf(part, 'scopes', indicators));
  part.ignore('id', 'tenantId', 'usersCount', 'featuredUsers', 'applicationsCount');
  part.ignore('featuredApplications');
  part.leaveUnread();
}

function readOrganizationScope(part: Part, draft: Draft): void {
  draft.organizationScope(part, {
    name: part.text('name'),
    description: part.text('description'),
  });
  part.ignore('id', 'tenantId');
  part.leaveUnread();
}

function readOrganizationRole(
  part: Part,
  draft: Draft,
  indicators: ReadonlyMap<string, string>,
): void {
  draft.organizationRole(part, fieldsOf(part), {
    scopes: part.list('scopes').flatMap((scope) => scope.text('name') ?? []),
    resourceScopes: scopesOf(part, 'resourceScopes', indicators),
  });
  part.ignore('id', 'tenantId');
  part.leaveUnread();
}

function readApplication(part: Part, draft: Draft): void {
  const given = part.text('type') ?? '';
  const type = Object.hasOwn(types, given) ? types[given] : undefined;
  if (type === undefined) {
    part.leave(`is not taken: Signet has no applications of the type ${given}`);
    return;
  }
  const [oidc, custom] = [part.get('oidcClientMetadata'), part.get('customClientMetadata')];
  const uris = (field: string) => exactUris(part, field, oidc.texts(field));
  const signsIn = type !== 'MACHINE_TO_MACHINE';
  draft.application(
    part,
    {
      name: part.text('name'),
      description: part.text('description') || undefined,
      type,
      ...(signsIn
        ? {
            redirectUris: uris('redirectUris'),
            postLogoutRedirectUris: uris('postLogoutRedirectUris'),
            corsAllowedOrigins: custom.texts('corsAllowedOrigins'),
            isThirdParty: part.flag('isThirdParty') ? true : undefined,
          }
        : {}),
    },
    part.list('roles').map((role) => role.text('name')),
  );
  oidc.ignore('redirectUris', 'postLogoutRedirectUris');
  oidc.leaveUnread();
  custom.leaveUnread();
  part.ignore('id', 'tenantId', 'secret', 'createdAt', 'isAdmin');
  part.leaveUnread();
}

const isEvent = (name: string): name is EventName => (eventNames as string[]).includes(name);

function readHook(part: Part, draft: Draft): void {
  const names = [...part.texts('events'), ...(part.text('event') ? [part.text('event')] : [])];
  const events = names.filter((name) => name !== undefined);
  const unknown = events.filter((name) => !isEvent(name));
  if (unknown.length > 0) part.leave(`events: Signet has no ${unknown.join(', ')}`);
  const known = events.filter(isEvent);
  if (known.length === 0) {
    part.leave('is not taken: no event of it is left');
    return;
  }
  const config = part.get('config');
  const headers = config.get('headers').entries();
  draft.webhook(
    part,
    {
      name: part.text('name'),
      url: config.text('url'),
      enabled: part.flag('enabled'),
    },
    known,
    headers.map(([header]) => header),
  );
  config.ignore('retries');
  config.leaveUnread();
  part.ignore('id', 'tenantId', 'signingKey', 'createdAt');
  part.leaveUnread();
}
