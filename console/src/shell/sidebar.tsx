import { Link } from '@tanstack/react-router';
import { Brand } from '../kit/controls/brand.tsx';
import { Icon } from '../kit/controls/icon.tsx';
import { Preferences } from '../kit/controls/preferences.tsx';
import { useMessages } from '../kit/language/language.ts';
import { covers, useSession } from '../kit/session/session.ts';
import { shellMessages } from './messages.ts';
import { navigation } from './navigation.ts';
import styles from './shell.module.css';
import { SignOut } from './sign-out.tsx';

/** The navigation, the person's name, theme and language. */
export function Sidebar({ onNavigate }: { onNavigate?: () => void }) {
  const t = useMessages(shellMessages);
  const { user, scopes } = useSession();
  const name = user.name ?? user.username ?? user.primaryEmail ?? user.id;
  return (
    <div className={styles.sidebar}>
      <Brand />
      <nav aria-label={t.main} className={styles.nav}>
        {navigation.map(({ text, pages }) => {
          const shown = pages.filter(({ scope }) => !scope || covers(scopes, scope));
          if (shown.length === 0) return null;
          return (
            <div key={text}>
              <p className={styles.navGroup} id={`nav-${text}`}>
                {t[text]}
              </p>
              <ul aria-labelledby={`nav-${text}`}>
                {shown.map((page) => (
                  <li key={page.to}>
                    <Link
                      to={page.to}
                      className={styles.navLink}
                      activeOptions={{ exact: page.to === '/', includeSearch: false }}
                      activeProps={{ 'aria-current': 'page' }}
                      onClick={onNavigate}
                    >
                      <Icon name={page.icon} />
                      {t[page.text]}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
      </nav>
      <div className={styles.foot}>
        <Preferences />
        <div className={styles.person}>
          <span className={styles.initials} aria-hidden="true">
            {initialsOf(name)}
          </span>
          <span className={styles.personName}>
            <span>{name}</span>
            {user.primaryEmail && user.primaryEmail !== name && <small>{user.primaryEmail}</small>}
          </span>
          <SignOut isSmall />
        </div>
      </div>
    </div>
  );
}

const initialsOf = (name: string): string =>
  name
    .split(/[\s._@-]+/)
    .filter(Boolean)
    .slice(0, 2)
    .map((word) => [...word][0]?.toUpperCase())
    .join('');
