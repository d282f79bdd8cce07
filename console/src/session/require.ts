import { suggestLanguage } from '../language/language.ts';
import { signInAddress } from './ended.ts';
import { fetchSession, type Session } from './session.ts';

let asked: Promise<Session> | undefined;

/**
 * The session, asked for once a page load. Where there is none the browser goes to sign in, and this never ends.
 *
 * @throws where the service does not answer.
 */
export function requireSession(): Promise<Session> {
  asked ??= ask();
  return asked;
}

async function ask(): Promise<Session> {
  const session = await fetchSession();
  if (!session) {
    location.replace(signInAddress());
    return new Promise(() => {});
  }
  suggestLanguage(session.locale);
  return session;
}
