import type { IconName } from '../kit/controls/icon.tsx';
import { configurationScopes, type Scope } from '../kit/session/session.ts';
import type { shellMessages } from './messages.ts';

type Text = keyof (typeof shellMessages)['en'];

/** A page of the navigation. */
export interface Destination {
  readonly to: string;
  readonly text: Text;
  readonly icon: IconName;
  /** The scope that it takes, or all of several. */
  readonly scope?: Scope | readonly Scope[];
  /** The key after `g`. */
  readonly key: string;
}

/** The pages, in groups. */
export const navigation: readonly {
  readonly text: Text;
  readonly pages: readonly Destination[];
}[] = [
  {
    text: 'watch',
    pages: [
      { to: '/', text: 'overview', icon: 'overview', key: 'o' },
      { to: '/events', text: 'events', icon: 'events', scope: 'events:read', key: 'e' },
      { to: '/refusals', text: 'refusals', icon: 'warning', scope: 'events:read', key: 'd' },
      { to: '/webhooks', text: 'webhooks', icon: 'webhooks', scope: 'webhooks:read', key: 'w' },
    ],
  },
  {
    text: 'directory',
    pages: [
      { to: '/users', text: 'users', icon: 'users', scope: 'users:read', key: 'u' },
      {
        to: '/organizations',
        text: 'organizations',
        icon: 'organizations',
        scope: 'organizations:read',
        key: 'g',
      },
      {
        to: '/applications',
        text: 'applications',
        icon: 'applications',
        scope: 'applications:read',
        key: 'a',
      },
      {
        to: '/agents',
        text: 'agents',
        icon: 'agents',
        scope: 'applications:read',
        key: 'n',
      },
      { to: '/apis', text: 'apis', icon: 'apis', scope: 'resources:read', key: 'p' },
      { to: '/roles', text: 'roles', icon: 'roles', scope: 'roles:read', key: 'r' },
      { to: '/who-can', text: 'whoCan', icon: 'help', scope: 'roles:read', key: 'c' },
      { to: '/explain', text: 'explain', icon: 'search', scope: 'roles:read', key: 'y' },
    ],
  },
  {
    text: 'service',
    pages: [
      {
        to: '/sign-in-experience',
        text: 'signInExperience',
        icon: 'experience',
        scope: 'experience:read',
        key: 'x',
      },
      {
        to: '/configuration',
        text: 'configuration',
        icon: 'terminal',
        scope: configurationScopes,
        key: 'f',
      },
      { to: '/developers', text: 'developers', icon: 'developers', key: 'v' },
      { to: '/keys', text: 'keys', icon: 'keys', scope: 'all', key: 'k' },
      { to: '/settings', text: 'settings', icon: 'settings', key: 's' },
    ],
  },
];

/** All pages of the navigation. */
export const destinations: readonly Destination[] = navigation.flatMap(({ pages }) => pages);
