import { useEffect, useId, useRef, useState } from 'react';
import type { Language } from '../generated/graphql.ts';
import { useMessages } from '../kit/language/language.ts';
import { serviceUrl } from '../kit/service-url.ts';
import { experienceMessages } from './messages.ts';
import styles from './preview.module.css';
import { draftOf, type ExperienceValues } from './values.ts';

const pages = ['sign-in', 'register', 'code', 'recovery'] as const;
const themes = ['light', 'dark'] as const;
const languages: readonly Language[] = ['en', 'de'];
const screens = ['phone', 'desktop'] as const;
const sizes = { phone: [375, 700], desktop: [1280, 900] } as const;

const settleMs = 300;

/**
 * The sign-in pages as the service renders them, with the form's values, saved or not. They are in a frame that nobody
 * can use: nothing is signed in there.
 */
export function Preview({ values }: { values: ExperienceValues }) {
  const t = useMessages(experienceMessages);
  const [page, setPage] = useState<(typeof pages)[number]>('sign-in');
  const [theme, setTheme] = useState<(typeof themes)[number]>('light');
  const [language, setLanguage] = useState(values.defaultLanguage);
  const [screen, setScreen] = useState<(typeof screens)[number]>('phone');
  const query = new URLSearchParams({
    page,
    theme,
    language,
    application: t.yourApplication[language],
    settings: JSON.stringify(draftOf(values)),
  });
  const [width, height] = sizes[screen];
  return (
    <section className={styles.preview} aria-label={t.preview}>
      <div className={styles.tools}>
        <Choice label={t.page} value={page} values={pages} names={t.views} onChange={setPage} />
        <Choice
          label={t.previewLanguage}
          value={language}
          values={languages}
          names={t.languages}
          onChange={setLanguage}
        />
        <Choice
          label={t.colors}
          value={theme}
          values={themes}
          names={t.themes}
          onChange={setTheme}
        />
        <Choice
          label={t.screen}
          value={screen}
          values={screens}
          names={t.screens}
          onChange={setScreen}
        />
      </div>
      <Frame
        title={t.preview}
        src={useSettled(`${serviceUrl}/console/preview?${query}`)}
        width={width}
        height={height}
      />
      {page === 'register' && !values.signUpEnabled && <p className={styles.note}>{t.noSignUp}</p>}
      <p className={styles.note}>{t.previewNote}</p>
    </section>
  );
}

function Choice<Value extends string>({
  label,
  value,
  values,
  names,
  onChange,
}: {
  label: string;
  value: Value;
  values: readonly Value[];
  names: Readonly<Record<Value, string>>;
  onChange: (value: Value) => void;
}) {
  const id = useId();
  return (
    <div className={styles.tool}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className={styles.select}
        value={value}
        onChange={({ target }) => onChange(target.value as Value)}
      >
        {values.map((each) => (
          <option key={each} value={each}>
            {names[each]}
          </option>
        ))}
      </select>
    </div>
  );
}

/** A page at its real size, scaled down to the room that there is. */
function Frame({
  title,
  src,
  width,
  height,
}: {
  title: string;
  src: string;
  width: number;
  height: number;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [room, setRoom] = useState<number>(width);
  useEffect(() => {
    if (!box.current) return undefined;
    const observer = new ResizeObserver(([entry]) => entry && setRoom(entry.contentRect.width));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  const scale = Math.min(1, room / width);
  return (
    <div ref={box} className={styles.box} style={{ height: height * scale }}>
      <iframe
        className={styles.frame}
        title={title}
        src={src}
        sandbox="allow-scripts"
        referrerPolicy="no-referrer"
        tabIndex={-1}
        inert
        style={{ width, height, transform: `scale(${scale})` }}
      />
    </div>
  );
}

/** A value once it has not changed for a moment: somebody may be typing. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), settleMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
