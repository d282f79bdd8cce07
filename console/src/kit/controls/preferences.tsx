import { useId } from 'react';
import { chooseLanguage, useLanguage, useMessages } from '../language/language.ts';
import { type Language, languages } from '../language/messages.ts';
import { useStore } from '../store.ts';
import { chooseTheme, type Theme, theme } from '../theme/theme.ts';
import { Icon } from './icon.tsx';
import { controlMessages } from './messages.ts';
import styles from './preferences.module.css';

/** The choice of theme and language. */
export function Preferences() {
  const t = useMessages(controlMessages);
  const id = useId();
  const chosenTheme = useStore(theme);
  const chosenLanguage = useLanguage();
  return (
    <div className={styles.preferences}>
      <label className={styles.preference} htmlFor={`${id}-theme`}>
        <Icon name="theme" size={14} />
        <span className="visually-hidden">{t.theme}</span>
        <select
          id={`${id}-theme`}
          value={chosenTheme}
          onChange={(event) => chooseTheme(event.target.value as Theme)}
        >
          <option value="system">{t.system}</option>
          <option value="light">{t.light}</option>
          <option value="dark">{t.dark}</option>
        </select>
      </label>
      <label className={styles.preference} htmlFor={`${id}-language`}>
        <Icon name="language" size={14} />
        <span className="visually-hidden">{t.language}</span>
        <select
          id={`${id}-language`}
          value={chosenLanguage}
          onChange={(event) => chooseLanguage(event.target.value as Language)}
        >
          {Object.entries(languages).map(([code, name]) => (
            <option key={code} value={code} lang={code}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
