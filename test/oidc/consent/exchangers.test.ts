import { expect, test } from 'vitest';
import { asPage } from '../../support/people/experience.ts';
import type { openBrowser } from '../../support/people/sign-in.ts';
import { createSignInFixture } from '../../support/people/sign-in-fixture.ts';
import { startService } from '../../support/service.ts';
import { asksConsent, consentDriver } from './driver.ts';

const service = await startService();
const fixture = await createSignInFixture(service);
const { directory, resource } = fixture;
const { createPair, begin } = consentDriver(service, fixture);
const accepting = {
  allowTokenExchange: true,
  exchangeThirdPartySubjectTokens: true,
} as const;
const exchanged = 'act for you in other services';
const ask = { scope: 'openid read', resource: resource.indicator };

const namesAt = async (browser: ReturnType<typeof openBrowser>) => {
  const page = asPage(service, browser);
  const { body } = await page('{ interaction { consent { exchangedBy } } }');
  return body.data?.['interaction'];
};

test('names nobody while nobody accepts the tokens', async () => {
  await directory.createClient({ name: 'Careful', allowTokenExchange: true });
  await directory.createClient({ ...accepting, name: 'Switched off', allowTokenExchange: false });
  await directory.createClient({
    ...accepting,
    name: 'Elsewhere',
    exchangeSubjectAudiences: ['https://other.example.com'],
  });
  const { browser, visit } = await begin(await createPair(), ask);
  expect(asksConsent(visit)).toBe(true);
  expect(visit.body).not.toContain(exchanged);
  expect(await namesAt(browser)).toEqual({ consent: { exchangedBy: [] } });
});

test('names who may exchange the tokens, on the page and in the Experience API', async () => {
  await directory.createClient({ ...accepting, name: 'Tools <server>' });
  await directory.createClient({
    ...accepting,
    name: 'Gateway',
    exchangeSubjectAudiences: ['https://other.example.com', resource.indicator],
  });
  const pair = await createPair();
  const { browser, visit } = await begin(pair, ask);
  expect(visit.body).toContain(
    'With this access, Garden Shop can also have Gateway or Tools &lt;server&gt; act for you in other services',
  );
  expect(await namesAt(browser)).toEqual({
    consent: { exchangedBy: ['Gateway', 'Tools <server>'] },
  });
  const german = await begin(pair, { ...ask, ui_locales: 'de' });
  expect(german.visit.body).toContain(
    'kann Garden Shop auch Gateway oder Tools &lt;server&gt; für Sie handeln lassen',
  );
});

test('names nobody for a token that is for no API', async () => {
  const { browser, visit } = await begin(await createPair(), { scope: 'openid' });
  expect(visit.body).not.toContain(exchanged);
  expect(await namesAt(browser)).toEqual({ consent: { exchangedBy: [] } });
});
