import { useSyncExternalStore } from 'react';
import { useMessages } from '../kit/language/language.ts';
import { servicePath } from '../kit/service-url.ts';
import { useStore } from '../kit/store.ts';
import { theme } from '../kit/theme/theme.ts';
import styles from './developers.module.css';
import { developerMessages } from './messages.ts';

const dark = matchMedia('(prefers-color-scheme: dark)');

/** GraphiQL in a frame, because its editor needs what the console's policy forbids. It has the rights of the session. */
export function GraphiQL() {
  const t = useMessages(developerMessages);
  const chosen = useStore(theme);
  const isDark = useSyncExternalStore(
    (listener) => {
      dark.addEventListener('change', listener);
      return () => dark.removeEventListener('change', listener);
    },
    () => dark.matches,
  );
  const shown = chosen === 'system' ? (isDark ? 'dark' : 'light') : chosen;
  return (
    <>
      <p className={styles.about}>{t.graphqlAbout}</p>
      <iframe
        key={shown}
        className={styles.frame}
        title={t.graphiql}
        src={`${servicePath}/console/graphiql?theme=${shown}`}
      />
    </>
  );
}
