import type { IconName } from '../controls/icon.tsx';
import type { Scope } from '../session/session.ts';
import type { shellMessages } from './messages.ts';

type Text = keyof (typeof shellMessages)['en'];

/** A page of the navigation. */
export interface Destination {
  readonly to: string;
  readonly text: Text;
  readonly icon: IconName;
  /** What a person needs to see it. */
  readonly scope?: Scope;
  /** Pressed after `g`. */
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
      { to: '/apis', text: 'apis', icon: 'apis', scope: 'resources:read', key: 'p' },
      { to: '/roles', text: 'roles', icon: 'roles', scope: 'roles:read', key: 'r' },
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
      { to: '/keys', text: 'keys', icon: 'keys', scope: 'all', key: 'k' },
      { to: '/settings', text: 'settings', icon: 'settings', key: 's' },
    ],
  },
];

/** All pages of the navigation. */
export const destinations: readonly Destination[] = navigation.flatMap(({ pages }) => pages);
