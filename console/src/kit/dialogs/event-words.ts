import type { RehearsedEvent } from '../api/send.ts';
import type { Language } from '../language/messages.ts';

/** Says how many things something happens to. */
type Words = (count: number, events: readonly RehearsedEvent[]) => string;

/** Whether things were added, or removed, or both. */
type Change = 'gained' | 'lost' | 'changed';

function changeIn(events: readonly RehearsedEvent[]): Change {
  const has = (start: string) =>
    events.some(({ data }) =>
      Object.entries(data ?? {}).some(
        ([name, value]) => name.startsWith(start) && Array.isArray(value) && value.length > 0,
      ),
    );
  if (has('added')) return has('removed') ? 'changed' : 'gained';
  return has('removed') ? 'lost' : 'changed';
}

type Noun = readonly [one: string, several: string];

interface Grammar {
  readonly nouns: Readonly<Record<string, Noun>>;
  /** By the end of an event's type. */
  readonly verbs: Readonly<Record<string, Noun>>;
  readonly changing: Readonly<Record<Change, Noun>>;
  /** What the things of a kind gain or lose, by the type of the event. */
  readonly changed: Readonly<Record<string, readonly [kind: string, what: string]>>;
  readonly special: Readonly<Record<string, Words>>;
}

const plain =
  (one: string, several: (count: number) => string): Words =>
  (count) =>
    count === 1 ? one : several(count);

const english: Grammar = {
  nouns: {
    User: ['A user', 'users'],
    Role: ['A role', 'roles'],
    Scope: ['A scope', 'scopes'],
    Resource: ['An API', 'APIs'],
    Application: ['An application', 'applications'],
    Organization: ['An organization', 'organizations'],
    OrganizationRole: ['An organization role', 'organization roles'],
    OrganizationScope: ['An organization scope', 'organization scopes'],
    OrganizationInvitation: ['An invitation', 'invitations'],
    Webhook: ['A webhook', 'webhooks'],
    IdentityProvider: ['An identity provider', 'identity providers'],
    TrustedIssuer: ['A trusted issuer', 'trusted issuers'],
    CrossAppConnection: ['A connection to another service', 'connections to other services'],
    SigningKey: ['A signing key', 'signing keys'],
    MessageSender: ['A message sender', 'message senders'],
    Member: ['A member of an organization', 'members of organizations'],
  },
  verbs: {
    Created: ['is created', 'are created'],
    Deleted: ['is deleted', 'are deleted'],
    'Data.Updated': ['changes', 'change'],
    Updated: ['changes', 'change'],
  },
  changing: {
    gained: ['gets', 'get'],
    lost: ['loses', 'lose'],
    changed: ['gets or loses', 'get or lose'],
  },
  changed: {
    'User.Roles.Updated': ['User', 'roles'],
    'Application.Roles.Updated': ['Application', 'roles'],
    'Application.Secrets.Updated': ['Application', 'secrets'],
    'Role.Scopes.Updated': ['Role', 'scopes'],
    'OrganizationRole.Scopes.Updated': ['OrganizationRole', 'scopes'],
    'Organization.Membership.Updated': ['Organization', 'members'],
    'Organization.MemberRoles.Updated': ['Member', 'roles'],
  },
  special: {
    'Organization.Settings.Updated': plain(
      'How people join an organization changes',
      (count) => `How people join ${count} organizations changes`,
    ),
    'User.SuspensionStatus.Updated': (count, events) =>
      `${count === 1 ? 'A user is' : `${count} users are`} ${
        events[0]?.data?.['isSuspended'] === false ? 'reactivated' : 'suspended'
      }`,
    'User.Session.Ended': plain('A session ends', (count) => `${count} sessions end`),
    'User.Credential.Updated': plain(
      'A way to sign in is removed or changed',
      (count) => `${count} ways to sign in are removed or changed`,
    ),
    'User.Grant.Revoked': plain(
      'An application may no longer act for a user',
      (count) => `${count} times, an application may no longer act for a user`,
    ),
    'Webhook.Secret.Rotated': plain(
      'A webhook gets a new secret',
      (count) => `${count} webhooks get a new secret`,
    ),
    'SignInExperience.Updated': () => 'How people sign in changes',
    'ServiceSettings.Updated': () => 'The settings of the service change',
  },
};

const german: Grammar = {
  nouns: {
    User: ['Ein Benutzer', 'Benutzer'],
    Role: ['Eine Rolle', 'Rollen'],
    Scope: ['Ein Scope', 'Scopes'],
    Resource: ['Eine API', 'APIs'],
    Application: ['Eine Anwendung', 'Anwendungen'],
    Organization: ['Eine Organisation', 'Organisationen'],
    OrganizationRole: ['Eine Organisationsrolle', 'Organisationsrollen'],
    OrganizationScope: ['Ein Organisations-Scope', 'Organisations-Scopes'],
    OrganizationInvitation: ['Eine Einladung', 'Einladungen'],
    Webhook: ['Ein Webhook', 'Webhooks'],
    IdentityProvider: ['Ein Identitätsanbieter', 'Identitätsanbieter'],
    TrustedIssuer: ['Ein vertrauter Aussteller', 'vertraute Aussteller'],
    CrossAppConnection: [
      'Eine Verbindung zu einem anderen Dienst',
      'Verbindungen zu anderen Diensten',
    ],
    SigningKey: ['Ein Signaturschlüssel', 'Signaturschlüssel'],
    MessageSender: ['Ein Absender von Nachrichten', 'Absender von Nachrichten'],
    Member: ['Ein Mitglied einer Organisation', 'Mitglieder von Organisationen'],
  },
  verbs: {
    Created: ['wird angelegt', 'werden angelegt'],
    Deleted: ['wird gelöscht', 'werden gelöscht'],
    'Data.Updated': ['wird geändert', 'werden geändert'],
    Updated: ['wird geändert', 'werden geändert'],
  },
  changing: {
    gained: ['bekommt', 'bekommen'],
    lost: ['verliert', 'verlieren'],
    changed: ['bekommt oder verliert', 'bekommen oder verlieren'],
  },
  changed: {
    'User.Roles.Updated': ['User', 'Rollen'],
    'Application.Roles.Updated': ['Application', 'Rollen'],
    'Application.Secrets.Updated': ['Application', 'Secrets'],
    'Role.Scopes.Updated': ['Role', 'Scopes'],
    'OrganizationRole.Scopes.Updated': ['OrganizationRole', 'Scopes'],
    'Organization.Membership.Updated': ['Organization', 'Mitglieder'],
    'Organization.MemberRoles.Updated': ['Member', 'Rollen'],
  },
  special: {
    'Organization.Settings.Updated': plain(
      'Der Beitritt zu einer Organisation wird geändert',
      (count) => `Der Beitritt zu ${count} Organisationen wird geändert`,
    ),
    'User.SuspensionStatus.Updated': (count, events) =>
      `${count === 1 ? 'Ein Benutzer wird' : `${count} Benutzer werden`} ${
        events[0]?.data?.['isSuspended'] === false ? 'reaktiviert' : 'gesperrt'
      }`,
    'User.Session.Ended': plain('Eine Sitzung endet', (count) => `${count} Sitzungen enden`),
    'User.Credential.Updated': plain(
      'Eine Anmeldemöglichkeit wird entfernt oder geändert',
      (count) => `${count} Anmeldemöglichkeiten werden entfernt oder geändert`,
    ),
    'User.Grant.Revoked': plain(
      'Eine Anwendung darf nicht mehr für einen Benutzer handeln',
      (count) => `${count}-mal darf eine Anwendung nicht mehr für einen Benutzer handeln`,
    ),
    'Webhook.Secret.Rotated': plain(
      'Ein Webhook bekommt ein neues Secret',
      (count) => `${count} Webhooks bekommen ein neues Secret`,
    ),
    'SignInExperience.Updated': () => 'Die Anmeldung wird geändert',
    'ServiceSettings.Updated': () => 'Die Einstellungen des Dienstes werden geändert',
  },
};

const grammars: Readonly<Record<Language, Grammar>> = { en: english, de: german };

/** What events tell, in the words of people: one text for each type, in the order in which they would be raised. */
export const eventsInWords = (
  events: readonly RehearsedEvent[],
  language: Language,
): readonly string[] =>
  [...Map.groupBy(events, ({ type }) => type)].map(([type, alike]) =>
    inWords(grammars[language], type, alike),
  );

function inWords(
  { nouns, verbs, changing, changed, special }: Grammar,
  type: string,
  events: readonly RehearsedEvent[],
): string {
  const { length } = events;
  const tell = special[type];
  if (tell) return tell(length, events);
  const [kind = '', ...rest] = type.split('.');
  const [holder, what] = changed[type] ?? [kind];
  const noun = nouns[holder];
  const verb = what ? changing[changeIn(events)] : verbs[rest.join('.')];
  if (!noun || !verb) return `${length} × ${type}`;
  const form = length === 1 ? 0 : 1;
  const text = `${length === 1 ? '' : `${length} `}${noun[form]} ${verb[form]}`;
  return what ? `${text} ${what}` : text;
}
