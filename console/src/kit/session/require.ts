import { suggestLanguage } from '../language/language.ts';
import { signInAddress } from './ended.ts';
import { fetchSession, type Session } from './session.ts';

let asked: Promise<Session> | undefined;

/**
 * The session, requested once for each page load. Without one, the browser goes to sign in, and the promise stays pending.
 *
 * @throws when the service does not answer.
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
