import type { Draft } from '../draft.ts';
import type { Part } from '../part.ts';

const google = 'https://accounts.google.com';

const scopesOf = (config: Part) =>
  config
    .text('scope')
    ?.split(' ')
    .filter((one) => one !== '');

/** Reads a connector: of a social provider, or what sends messages. */
export function readConnector(part: Part, draft: Draft): void {
  const id = part.text('connectorId') ?? '';
  const config = part.get('config');
  const names = [part.get('metadata').get('name'), part.get('name')];
  const name = names.map((one) => one.text('en')).find((one) => one) ?? id;
  const provider = (issuer: string | undefined) => {
    draft.identityProvider(part, {
      name,
      kind: 'SOCIAL',
      issuer,
      clientId: config.text('clientId'),
      scopes: scopesOf(config),
    });
    config.ignore('clientSecret');
    config.leaveUnread();
  };
  if (id === 'simple-mail-transfer-protocol') readSmtp(part, config, draft);
  else if (id === 'google-universal') provider(google);
  else if (id === 'oidc') provider(config.get('idTokenVerificationConfig').text('issuer'));
  else part.leave(`is not taken: ${id || 'it'} has no OpenID Connect that Signet can use`);
}

function readSmtp(part: Part, config: Part, draft: Draft): void {
  const auth = config.get('auth');
  draft.smtp(part, {
    host: config.text('host'),
    port: config.number('port'),
    secure: config.flag('secure') ? true : undefined,
    username: auth.text('user'),
    from: config.text('fromEmail'),
  });
  if (config.has('templates')) {
    config.get('templates').leave('Signet has texts of its own for its messages');
  }
  config.leaveUnread();
}

/** Reads a connector of a company's single sign-on. */
export function readSsoConnector(part: Part, draft: Draft): void {
  const provider = part.text('providerName') ?? '';
  if (!['OIDC', 'GoogleWorkspace', 'Okta', 'AzureAdOidc'].includes(provider)) {
    part.leave(`is not taken: ${provider || 'it'} has no OpenID Connect that Signet can use`);
    return;
  }
  const config = part.get('config');
  draft.identityProvider(part, {
    name: part.text('connectorName'),
    kind: 'ENTERPRISE',
    issuer: provider === 'GoogleWorkspace' ? google : config.text('issuer'),
    clientId: config.text('clientId'),
    scopes: scopesOf(config),
    emailDomains: part.texts('domains'),
  });
  config.ignore('clientSecret');
  config.leaveUnread();
  part.ignore('id', 'tenantId', 'createdAt', 'name', 'providerType', 'providerLogo');
  part.ignore('providerLogoDark', 'providerConfig');
  part.leaveUnread();
}
