import type { Draft } from '../draft.ts';
import type { Part } from '../part.ts';

const google = 'https://accounts.google.com';

const text = (part: Part, field: string) => part.text(field) ?? '';

/** What a connection of each strategy with OpenID Connect is. */
const strategies: Readonly<
  Record<string, (options: Part) => { kind: 'SOCIAL' | 'ENTERPRISE'; issuer: string | undefined }>
> = {
  'google-oauth2': () => ({ kind: 'SOCIAL', issuer: google }),
  'google-apps': () => ({ kind: 'ENTERPRISE', issuer: google }),
  oidc: (options) => ({ kind: 'ENTERPRISE', issuer: issuerOf(options) }),
  okta: (options) => ({
    kind: 'ENTERPRISE',
    issuer:
      issuerOf(options) ??
      (options.has('domain') ? `https://${text(options, 'domain')}` : undefined),
  }),
  waad: (options) => ({
    kind: 'ENTERPRISE',
    issuer: options.has('tenantId')
      ? `https://login.microsoftonline.com/${text(options, 'tenantId')}/v2.0`
      : undefined,
  }),
};

const issuerOf = (options: Part): string | undefined => {
  const discovery = options.text('discovery_url')?.split('/.well-known/')[0];
  return options.text('issuer') ?? discovery;
};

/** Reads a connection to another system, other than a database. */
export function readIdentityProvider(part: Part, draft: Draft): void {
  const strategy = text(part, 'strategy');
  const of = Object.hasOwn(strategies, strategy) ? strategies[strategy] : undefined;
  if (!of) {
    part.leave(`is not taken: ${strategy || 'it'} has no OpenID Connect that Signet can use`);
    return;
  }
  const options = part.get('options');
  const { kind, issuer } = of(options);
  const domains = [
    ...options.texts('domain_aliases'),
    ...(strategy === 'oidc' || strategy === 'okta' || options.text('tenant_domain') === undefined
      ? []
      : [text(options, 'tenant_domain')]),
  ];
  const scope = options.get('scope').value;
  draft.identityProvider(part, {
    name: part.text('display_name') ?? part.text('name'),
    kind,
    issuer,
    clientId: options.text('client_id'),
    scopes: typeof scope === 'string' ? scope.split(' ').filter((one) => one !== '') : undefined,
    emailDomains: kind === 'ENTERPRISE' ? domains : [],
  });
  part.ignore('id', 'name', 'realms', 'is_domain_connection');
  options.ignore('client_secret', 'type', 'jwks_uri', 'authorization_endpoint', 'token_endpoint');
  options.ignore(
    'userinfo_endpoint',
    'discovery_url',
    'tenant_domain',
    'domain',
    'email',
    'profile',
  );
  options.leaveUnread();
  part.leaveUnread('an application cannot choose its connections, and Signet has no such setting');
}
