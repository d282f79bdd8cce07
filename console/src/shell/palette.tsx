import { Dialog } from '@base-ui/react/dialog';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { Icon, type IconName } from '../kit/controls/icon.tsx';
import { useListbox } from '../kit/controls/listbox.ts';
import { controlMessages } from '../kit/controls/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { defineMessages } from '../kit/language/messages.ts';
import { type FoundRecord, findRecords } from '../kit/records/find-records.ts';
import { linkTo, type RecordLink } from '../kit/records/links.ts';
import { covers, type Scope, useSession } from '../kit/session/session.ts';
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
    importUsers: 'Import users',
    rotateKey: 'Rotate signing key',
    doneBy: (name: string) => `What ${name} did`,
    nothing: 'No matches. Search by name or id.',
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
    importUsers: 'Benutzer importieren',
    rotateKey: 'Signaturschlüssel wechseln',
    doneBy: (name) => `Was ${name} getan hat`,
    nothing: 'Keine Treffer. Suchen Sie nach Name oder ID.',
  },
});

interface Item {
  readonly key: string;
  readonly group: 'pages' | 'actions' | 'records';
  readonly text: string;
  readonly detail?: string;
  readonly icon: IconName;
  readonly link: RecordLink;
}

const actions = [
  { text: 'createUser', to: '/users', opens: 'create', scope: 'users:write' },
  {
    text: 'createApplication',
    to: '/applications',
    opens: 'create',
    scope: 'applications:write',
  },
  {
    text: 'createOrganization',
    to: '/organizations',
    opens: 'create',
    scope: 'organizations:write',
  },
  { text: 'createWebhook', to: '/webhooks', opens: 'create', scope: 'webhooks:write' },
  { text: 'createRole', to: '/roles', opens: 'create', scope: 'roles:write' },
  { text: 'createApi', to: '/apis', opens: 'create', scope: 'resources:write' },
  { text: 'importUsers', to: '/users', opens: 'import', scope: 'users:write' },
  { text: 'rotateKey', to: '/keys', opens: 'rotate', scope: 'all' },
] as const satisfies readonly {
  readonly text: string;
  readonly to: string;
  /** The dialog, as in the page's address. */
  readonly opens: string;
  readonly scope: Scope;
}[];

const restMs = 120;

/** The command palette: finds pages, records and actions. What is typed is kept outside, since it begins before this loads. */
export default function Palette({
  sought,
  onSeek,
  onClose,
}: {
  sought: string;
  onSeek: (typed: string) => void;
  onClose: () => void;
}) {
  const t = useMessages(messages);
  const words = useMessages(controlMessages);
  const names = useMessages(shellMessages);
  const navigate = useNavigate();
  const { scopes } = useSession();
  const { records, isSearching } = useRecords(sought.trim());

  const fixed = useMemo((): readonly Item[] => {
    const allowed = (scope: Scope | readonly Scope[] | undefined) =>
      !scope || covers(scopes, scope);
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
        .map(({ to, text, opens }) => ({
          key: text,
          group: 'actions' as const,
          text: t[text],
          icon: opens === 'create' ? ('plus' as const) : ('right' as const),
          link: { to, search: { [opens]: 'true' } },
        })),
    ];
  }, [scopes, names, t]);

  const mayReadEvents = covers(scopes, 'events:read');
  const people = mayReadEvents ? records.filter(({ icon }) => icon === 'users').slice(0, 3) : [];
  const deeds = people.map(
    ({ key, text, link }): Item => ({
      key: `${key} did`,
      group: 'actions',
      text: t.doneBy(text),
      icon: 'events',
      link: { ...link, search: { tab: 'events', shows: 'by' } },
    }),
  );

  const wanted = sought.trim().toLowerCase();
  const items = [
    ...fixed.filter(({ text }) => text.toLowerCase().includes(wanted)),
    ...(wanted ? [...records, ...deeds] : []),
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
              value={sought}
              onChange={(event) => onSeek(event.target.value)}
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
        const records = await findRecords(search, scopes, ended.signal);
        setFound({ search, records: records.flatMap(itemOf) });
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

const itemOf = ({ id, icon, text, detail }: FoundRecord): readonly Item[] => {
  const link = linkTo(id);
  return link
    ? [{ key: id, group: 'records', text, icon, link, ...(detail ? { detail } : {}) }]
    : [];
};
