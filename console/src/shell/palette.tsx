import { Dialog } from '@base-ui/react/dialog';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { graphql } from '../api/graphql.ts';
import { send } from '../api/send.ts';
import { Icon, type IconName } from '../controls/icon.tsx';
import { useListbox } from '../controls/listbox.ts';
import { controlMessages } from '../controls/messages.ts';
import { useMessages } from '../language/language.ts';
import { defineMessages } from '../language/messages.ts';
import { linkTo, type RecordLink } from '../records/links.ts';
import { covers, type Scope, useSession } from '../session/session.ts';
import { shellMessages } from './messages.ts';
import { destinations } from './navigation.ts';
import styles from './palette.module.css';

const messages = defineMessages({
  en: {
    title: 'Go to',
    placeholder: 'A page, a name, an id, or an action',
    pages: 'Pages',
    actions: 'Actions',
    records: 'Records',
    createUser: 'Create user',
    createRole: 'Create role',
    createApi: 'Create API',
    createApplication: 'Create application',
    createOrganization: 'Create organization',
    createWebhook: 'Create webhook',
    nothing: 'Nothing fits. A record is found by its name or its id.',
  },
  de: {
    title: 'Gehe zu',
    placeholder: 'Seite, Name, ID oder Aktion',
    pages: 'Seiten',
    actions: 'Aktionen',
    records: 'Einträge',
    createUser: 'Benutzer anlegen',
    createRole: 'Rolle anlegen',
    createApi: 'API anlegen',
    createApplication: 'Anwendung anlegen',
    createOrganization: 'Organisation anlegen',
    createWebhook: 'Webhook anlegen',
    nothing: 'Nichts passt. Einträge werden über Namen oder ID gefunden.',
  },
});

const SearchRecords = graphql(`
  query SearchRecords(
    $search: String!
    $users: Boolean!
    $applications: Boolean!
    $organizations: Boolean!
    $roles: Boolean!
    $resources: Boolean!
    $webhooks: Boolean!
  ) {
    users(first: 5, filter: { search: $search }) @include(if: $users) {
      edges { node { id name username primaryEmail } }
    }
    applications(first: 5, filter: { search: $search }) @include(if: $applications) {
      edges { node { id name type } }
    }
    organizations(first: 5, filter: { search: $search }) @include(if: $organizations) {
      edges { node { id name } }
    }
    roles(first: 5, filter: { search: $search }) @include(if: $roles) {
      edges { node { id name type } }
    }
    resources(first: 5, filter: { search: $search }) @include(if: $resources) {
      edges { node { id name indicator } }
    }
    webhooks(first: 5, filter: { search: $search }) @include(if: $webhooks) {
      edges { node { id name url } }
    }
  }
`);

interface Item {
  readonly key: string;
  readonly group: 'pages' | 'actions' | 'records';
  readonly text: string;
  readonly detail?: string;
  readonly icon: IconName;
  readonly link: RecordLink;
}

const actions = [
  { text: 'createUser', icon: 'users', to: '/users', scope: 'users:write' },
  {
    text: 'createApplication',
    icon: 'applications',
    to: '/applications',
    scope: 'applications:write',
  },
  {
    text: 'createOrganization',
    icon: 'organizations',
    to: '/organizations',
    scope: 'organizations:write',
  },
  { text: 'createWebhook', icon: 'webhooks', to: '/webhooks', scope: 'webhooks:write' },
  { text: 'createRole', icon: 'roles', to: '/roles', scope: 'roles:write' },
  { text: 'createApi', icon: 'apis', to: '/apis', scope: 'resources:write' },
] as const satisfies readonly { text: string; icon: IconName; to: string; scope: Scope }[];

const restMs = 120;
const idPattern = /^[a-z]+_[0-9a-hjkmnp-tv-z]{26}$/;

/** Leads to pages, records, and actions by a few letters. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const t = useMessages(messages);
  const words = useMessages(controlMessages);
  const names = useMessages(shellMessages);
  const navigate = useNavigate();
  const { scopes } = useSession();
  const [typed, setTyped] = useState('');
  const { records, isSearching } = useRecords(typed.trim());

  const fixed = useMemo((): readonly Item[] => {
    const allowed = (scope: Scope | undefined) => !scope || covers(scopes, scope);
    return [
      ...destinations
        .filter(({ scope }) => allowed(scope))
        .map(({ to, text, icon }) => ({
          key: to,
          group: 'pages' as const,
          text: names[text],
          icon,
          link: { to },
        })),
      ...actions
        .filter(({ scope }) => allowed(scope))
        .map(({ to, text }) => ({
          key: text,
          group: 'actions' as const,
          text: t[text],
          icon: 'plus' as const,
          link: { to, search: { create: 'true' } },
        })),
    ];
  }, [scopes, names, t]);

  const wanted = typed.trim().toLowerCase();
  const items = [
    ...fixed.filter(({ text }) => text.toLowerCase().includes(wanted)),
    ...(wanted ? records : []),
  ];
  const choose = ({ link }: Item) => {
    onClose();
    void navigate({ to: link.to, search: link.search ?? {} } as never); // The address is a plain text here.
  };
  const listbox = useListbox(items, choose);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.veil} />
        <Dialog.Popup className={styles.popup}>
          <Dialog.Title className="visually-hidden">{t.title}</Dialog.Title>
          <div className={styles.field}>
            <Icon name="search" />
            <input
              {...listbox.input}
              role="combobox"
              aria-expanded={items.length > 0}
              className={styles.input}
              aria-label={t.title}
              placeholder={t.placeholder}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          </div>
          <div {...listbox.list} role="listbox" className={styles.list} aria-label={t.title}>
            {items.map((item, index) => (
              <div key={item.key} className={styles.entry}>
                {items[index - 1]?.group !== item.group && (
                  <p className={styles.group} aria-hidden="true">
                    {t[item.group]}
                  </p>
                )}
                <div {...listbox.option(index)} role="option" className={styles.option}>
                  <Icon name={item.icon} />
                  <span className={styles.text}>{item.text}</span>
                  {item.detail && <span className={styles.detail}>{item.detail}</span>}
                </div>
              </div>
            ))}
          </div>
          {items.length === 0 && (
            <p className={styles.nothing} role="status">
              {isSearching ? words.searching : t.nothing}
            </p>
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function useRecords(search: string) {
  const { scopes } = useSession();
  const [found, setFound] = useState<{ search: string; records: readonly Item[] }>({
    search: '',
    records: [],
  });
  useEffect(() => {
    if (search === '') return undefined;
    const ended = new AbortController();
    const timer = setTimeout(async () => {
      try {
        setFound({ search, records: await findRecords(search, scopes, ended.signal) });
      } catch {
        if (!ended.signal.aborted) setFound({ search, records: [] });
      }
    }, restMs);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [search, scopes]);
  return { records: found.records, isSearching: search !== '' && found.search !== search };
}

async function findRecords(
  search: string,
  scopes: readonly string[],
  signal: AbortSignal,
): Promise<readonly Item[]> {
  const link = idPattern.test(search) ? linkTo(search) : undefined;
  if (link) return [{ key: search, group: 'records', text: search, icon: 'right', link }];
  const may = (scope: Scope) => covers(scopes, scope);
  const data = await send(
    SearchRecords,
    {
      search,
      users: may('users:read'),
      applications: may('applications:read'),
      organizations: may('organizations:read'),
      roles: may('roles:read'),
      resources: may('resources:read'),
      webhooks: may('webhooks:read'),
    },
    signal,
  );
  const item = (id: string, icon: IconName, text: string, detail?: string | null): Item[] => {
    const to = linkTo(id);
    return to
      ? [{ key: id, group: 'records', text, icon, link: to, ...(detail ? { detail } : {}) }]
      : [];
  };
  return [
    ...(data.users?.edges ?? []).flatMap(({ node: { id, name, username, primaryEmail } }) =>
      item(id, 'users', name ?? username ?? primaryEmail ?? id, primaryEmail),
    ),
    ...(data.applications?.edges ?? []).flatMap(({ node }) =>
      item(node.id, 'applications', node.name),
    ),
    ...(data.organizations?.edges ?? []).flatMap(({ node }) =>
      item(node.id, 'organizations', node.name),
    ),
    ...(data.roles?.edges ?? []).flatMap(({ node }) => item(node.id, 'roles', node.name)),
    ...(data.resources?.edges ?? []).flatMap(({ node }) =>
      item(node.id, 'apis', node.name, node.indicator),
    ),
    ...(data.webhooks?.edges ?? []).flatMap(({ node }) =>
      item(node.id, 'webhooks', node.name, String(node.url)),
    ),
  ];
}
