import type { Page } from 'playwright-core';
import { begin, type PageStage, type PageState } from '../page-states.ts';
import { password } from '../sign-in-fixture.ts';
import { sendForm } from './hand.ts';

const signIn = (page: Page, identifier = 'Ada') => sendForm(page, { identifier, password });

/** Keeps the browser at a page that would send its form by itself. */
const stay = (page: Page) =>
  page.context().addInitScript('HTMLFormElement.prototype.submit = () => undefined');

async function answer(stage: PageStage, parameters: Record<string, string> = {}) {
  const page = await begin(stage, { response_mode: 'form_post', ...parameters });
  await stay(page);
  await signIn(page);
  return page;
}

async function changePerson(stage: PageStage) {
  const page = await begin(stage);
  await page.route(/\/callback\?/, (route) => route.fulfill({ body: 'The application' }));
  await signIn(page);
  const { username } = await stage.fixture.createUser();
  const again = await begin(
    { ...stage, newContext: async () => page.context() },
    { prompt: 'login' },
  );
  await stay(again);
  await signIn(again, username ?? '');
  return again;
}

/** Opens the sign-out: of whoever is signed in, or of nobody. */
const signOut = (isSignedIn: boolean) => async (stage: PageStage) => {
  const page = await (isSignedIn ? begin(stage) : (await stage.newContext()).newPage());
  if (isSignedIn) {
    await page.route(/\/callback\?/, (route) => route.fulfill({ body: 'The application' }));
    await signIn(page);
  } else {
    await stay(page);
  }
  await page.goto(`${stage.service.app.services.issuer}/session/end`);
  return page;
};

const at = (path: string) => async (stage: PageStage) => {
  const page = await (await stage.newContext()).newPage();
  await page.goto(`${stage.service.app.services.issuer}${path}`);
  return page;
};

/** The pages of an application's requests: their answers, sign-outs, and what is wrong with them. */
export const requestStates: readonly PageState[] = [
  { name: 'answer-by-form', open: (stage) => answer(stage) },
  { name: 'answer-by-form-german', open: (stage) => answer(stage, { ui_locales: 'de' }) },
  { name: 'other-person', open: changePerson },
  { name: 'sign-out', open: signOut(true) },
  { name: 'sign-out-nobody', open: signOut(false) },
  { name: 'signed-out', open: at('/session/end/success') },
  { name: 'request-failed', open: at('/auth?client_id=none') },
  { name: 'request-refused', open: at('/auth?state=%00') },
];
