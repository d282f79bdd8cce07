import { type CSSProperties, useState } from 'react';
import { useMessages } from '../language/language.ts';
import { isColor, readableOn, signetColor, standingOut } from './colors.ts';
import { experienceMessages, pageTexts } from './messages.ts';
import styles from './preview.module.css';
import type { ExperienceValues } from './values.ts';

const surfaces = { light: '#ffffff', dark: '#181b21' } as const;
const views = ['signIn', 'register', 'code'] as const;

/** The pages for people as they will look, with what is in the form. The console's policy loads no foreign logo. */
export function Preview({ values }: { values: ExperienceValues }) {
  const t = useMessages(experienceMessages);
  const [theme, setTheme] = useState<keyof typeof surfaces>('light');
  const [view, setView] = useState<(typeof views)[number]>('signIn');
  const { branding } = values;
  const color = isColor(branding.primaryColor.trim()) ? branding.primaryColor.trim() : signetColor;
  const colors = {
    '--brand': color,
    '--on-brand': readableOn(color),
    '--brand-link': standingOut(color, surfaces[theme]),
  } as CSSProperties;
  return (
    <section className={styles.preview} aria-label={t.preview}>
      <div className={styles.tools}>
        <label className={styles.tool}>
          <span>{t.page}</span>
          <select
            className={styles.select}
            value={view}
            onChange={(event) => setView(event.target.value as typeof view)}
          >
            {views.map((each) => (
              <option key={each} value={each}>
                {t.views[each]}
              </option>
            ))}
          </select>
        </label>
        <label className={styles.tool}>
          <span>{t.colours}</span>
          <select
            className={styles.select}
            value={theme}
            onChange={(event) => setTheme(event.target.value as typeof theme)}
          >
            <option value="light">{t.light}</option>
            <option value="dark">{t.dark}</option>
          </select>
        </label>
      </div>
      <div
        className={styles.frame}
        data-theme={theme}
        style={colors}
        lang={values.defaultLanguage}
        inert
      >
        <Brand branding={branding} />
        <div className={styles.card}>
          <View view={view} values={values} />
        </div>
        <Footer values={values} />
      </div>
      <p className={styles.note}>{t.previewNote}</p>
    </section>
  );
}

function Brand({ branding }: { branding: ExperienceValues['branding'] }) {
  const t = useMessages(experienceMessages);
  const name = branding.productName.trim() || 'Signet';
  return (
    <div className={styles.brand}>
      {branding.logoUrl.trim() ? (
        <span className={styles.logo}>{t.logoOf(name)}</span>
      ) : (
        <>
          <Mark />
          {name}
        </>
      )}
    </div>
  );
}

const Mark = () => (
  <svg viewBox="0 0 28 28" className={styles.mark} aria-hidden="true">
    <rect width="28" height="28" rx="8" fill="var(--brand)" />
    <path
      d="M19.2 9.1a7 7 0 1 0 .1 9.7"
      fill="none"
      stroke="var(--on-brand)"
      strokeWidth="2.6"
      strokeLinecap="round"
    />
    <circle cx="14" cy="14" r="2.4" fill="var(--on-brand)" />
  </svg>
);

function View({ view, values }: { view: (typeof views)[number]; values: ExperienceValues }) {
  const texts = pageTexts[values.defaultLanguage];
  if (view === 'register') return <Register values={values} />;
  if (view === 'code')
    return (
      <>
        <p className={styles.title}>{texts.enterCode}</p>
        <p className={styles.lead}>{texts.codeSent}</p>
        <Field label={texts.code} />
        <span className={styles.button}>{texts.continue}</span>
        <p className={styles.below}>
          {texts.notArrived} <span className={styles.link}>{texts.sendAnother}</span>
        </p>
      </>
    );
  if (!values.passwordEnabled)
    return (
      <>
        <p className={styles.title}>{texts.signInByCode}</p>
        <p className={styles.lead}>{texts.signInByCodeLead}</p>
        <Field
          label={identifierLabel(
            values,
            values.signInIdentifiers.filter((each) => each !== 'USERNAME'),
          )}
        />
        <span className={styles.button}>{texts.sendCode}</span>
        {values.signUpEnabled && <SignUpLink values={values} />}
      </>
    );
  return (
    <>
      <p className={styles.title}>{texts.signIn}</p>
      <p className={styles.lead}>{texts.toContinue}</p>
      <Field label={identifierLabel(values, values.signInIdentifiers)} />
      <Field label={texts.password} aside={texts.forgotPassword} />
      <span className={styles.button}>{texts.signIn}</span>
      <p className={styles.giveUp}>{texts.cancel}</p>
      {values.codeEnabled && (
        <span className={`${styles.button} ${styles.quiet}`}>{texts.useCode}</span>
      )}
      {values.signUpEnabled && <SignUpLink values={values} />}
    </>
  );
}

function Register({ values }: { values: ExperienceValues }) {
  const t = useMessages(experienceMessages);
  const texts = pageTexts[values.defaultLanguage];
  const [first] = values.signUpIdentifiers;
  if (!values.signUpEnabled || !first) return <p className={styles.lead}>{t.noSignUp}</p>;
  return (
    <>
      <p className={styles.title}>{texts.createAccount}</p>
      <p className={styles.lead}>{first === 'USERNAME' ? texts.toContinue : texts.registerLead}</p>
      <Field label={texts.field[first]} />
      {first === 'USERNAME' && (
        <Field label={texts.password} hint={texts.passwordHint(values.passwordPolicy.minLength)} />
      )}
      <span className={styles.button}>
        {first === 'USERNAME' ? texts.createAccount : texts.sendCode}
      </span>
      <p className={styles.below}>
        {texts.haveAccount} <span className={styles.link}>{texts.signIn}</span>
      </p>
    </>
  );
}

function SignUpLink({ values }: { values: ExperienceValues }) {
  const texts = pageTexts[values.defaultLanguage];
  return (
    <p className={styles.below}>
      {texts.noAccount} <span className={styles.link}>{texts.createAccount}</span>
    </p>
  );
}

function Footer({ values: { branding, defaultLanguage } }: { values: ExperienceValues }) {
  const texts = pageTexts[defaultLanguage];
  return (
    <p className={styles.footer}>
      {branding.termsUrl.trim() && <span>{texts.terms}</span>}
      {branding.privacyUrl.trim() && <span>{texts.privacy}</span>}
    </p>
  );
}

const Field = ({ label, aside, hint }: { label: string; aside?: string; hint?: string }) => (
  <div className={styles.field}>
    <p className={styles.label}>
      {label}
      {aside && <span className={styles.link}>{aside}</span>}
    </p>
    <span className={styles.input} />
    {hint && <p className={styles.hint}>{hint}</p>}
  </div>
);

// "E-mail address or user name", as the page itself writes it.
function identifierLabel(
  { defaultLanguage }: ExperienceValues,
  identifiers: ExperienceValues['signInIdentifiers'],
): string {
  const texts = pageTexts[defaultLanguage];
  const names = identifiers.map((each) => texts.identifier[each]);
  const last = names.at(-1) ?? '';
  const label = names.length < 2 ? last : `${names.slice(0, -1).join(', ')} ${texts.or} ${last}`;
  return label.charAt(0).toUpperCase() + label.slice(1);
}
