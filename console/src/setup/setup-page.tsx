import { standardSchemaResolver } from '@hookform/resolvers/standard-schema';
import { useState } from 'react';
import { FormProvider, useForm } from 'react-hook-form';
import * as z from 'zod/mini';
import { Brand } from '../kit/controls/brand.tsx';
import { Button } from '../kit/controls/button.tsx';
import { Icon } from '../kit/controls/icon.tsx';
import { Preferences } from '../kit/controls/preferences.tsx';
import { filledText } from '../kit/forms/described.ts';
import { PasswordField, TextField } from '../kit/forms/fields.tsx';
import { formMessages } from '../kit/forms/messages.ts';
import { useMessages } from '../kit/language/language.ts';
import { defineMessages } from '../kit/language/messages.ts';
import { servicePath } from '../kit/service-url.ts';
import { EmptyState } from '../kit/states/state.tsx';
import styles from './setup-page.module.css';

const signInPath = `${servicePath}/console/sign-in?to=/console/`;

const messages = defineMessages({
  en: {
    heading: 'Set up Signet',
    lead: 'Create the account of the first administrator. It can do everything. You can add more people later.',
    username: 'User name',
    email: 'E-mail address',
    password: 'Password',
    passwordHint: '15 characters or more are best, such as a few unrelated words.',
    submit: 'Create account and sign in',
    failed: 'Something went wrong. The service may not be reachable. Try again.',
    usedTitle: 'This link is no longer valid',
    usedText:
      'It was used, is older than an hour, or is not complete. While there is no administrator, each start of the service prints a new link: restart the service, then open the link in its log.',
    usedSignIn: 'Already have an account?',
    signIn: 'Sign in',
  },
  de: {
    heading: 'Signet einrichten',
    lead: 'Legen Sie das Konto des ersten Administrators an. Es hat alle Rechte; weitere Personen können später dazukommen.',
    username: 'Benutzername',
    email: 'E-Mail-Adresse',
    password: 'Passwort',
    passwordHint: 'Am besten 15 Zeichen oder mehr, etwa ein paar Wörter ohne Zusammenhang.',
    submit: 'Konto anlegen und anmelden',
    failed:
      'Das ist nicht gelungen. Der Dienst ist vielleicht nicht erreichbar. Versuchen Sie es noch einmal.',
    usedTitle: 'Dieser Link gilt nicht mehr',
    usedText:
      'Er wurde benutzt, ist älter als eine Stunde oder unvollständig. Solange es keinen Administrator gibt, druckt jeder Start des Dienstes einen neuen Link: Starten Sie ihn neu, und öffnen Sie den Link aus seinem Log.',
    usedSignIn: 'Haben Sie schon ein Konto?',
    signIn: 'Anmelden',
  },
});

interface Answer {
  readonly issues?: readonly { readonly path: readonly string[]; readonly message: string }[];
  readonly message?: string;
}

/** The page of the link that the first start prints. It creates the first administrator. */
export function SetupPage() {
  const t = useMessages(messages);
  const texts = useMessages(formMessages);
  const [isUsed, setIsUsed] = useState(false);
  const [problem, setProblem] = useState<string>();
  const form = useForm({
    defaultValues: { username: '', email: '', password: '' },
    resolver: standardSchemaResolver(
      z.object({
        username: filledText(texts.required),
        email: z.string().check(z.trim(), z.email(texts.notAnEmail)),
        password: z.string().check(z.minLength(1, texts.required)),
      }),
    ),
  });
  const send = form.handleSubmit(async (values) => {
    setProblem(undefined);
    const token = new URLSearchParams(location.search).get('token') ?? '';
    try {
      const response = await fetch(`${servicePath}/console/setup`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-signet-console': '1' },
        body: JSON.stringify({ token, ...values }),
      });
      if (response.ok) {
        location.assign(signInPath);
        return;
      }
      if (response.status === 403) {
        setIsUsed(true);
        return;
      }
      const answer = (await response.json()) as Answer;
      for (const { path, message } of answer.issues ?? []) {
        const [field] = path;
        if (field === 'username' || field === 'email' || field === 'password')
          form.setError(field, { message }, { shouldFocus: true });
        else setProblem(message);
      }
      if (!answer.issues?.length) setProblem(answer.message ?? t.failed);
    } catch {
      setProblem(t.failed);
    }
  });
  return (
    <div className={styles.page}>
      <title>{`${t.heading} · Signet`}</title>
      <header>
        <Brand />
      </header>
      <main className={styles.card}>
        {isUsed ? (
          <EmptyState isPage icon="keys" title={t.usedTitle}>
            <p>{t.usedText}</p>
            <p className={styles.signIn}>
              {t.usedSignIn} <a href={signInPath}>{t.signIn}</a>
            </p>
          </EmptyState>
        ) : (
          <>
            <h1 className={styles.heading}>{t.heading}</h1>
            <p className={styles.lead}>{t.lead}</p>
            <FormProvider {...form}>
              <form noValidate className={styles.form} onSubmit={send}>
                <TextField name="username" label={t.username} autoComplete="username" hasFocus />
                <TextField name="email" type="email" label={t.email} autoComplete="email" />
                <PasswordField name="password" label={t.password} hint={t.passwordHint} />
                {problem && (
                  <p className={styles.problem} role="alert">
                    <Icon name="warning" />
                    {problem}
                  </p>
                )}
                <Button type="submit" kind="primary" isBusy={form.formState.isSubmitting}>
                  {t.submit}
                </Button>
              </form>
            </FormProvider>
          </>
        )}
      </main>
      <footer>
        <Preferences />
      </footer>
    </div>
  );
}
