import type { Page } from 'playwright-core';
import { askUserCode } from '../device.ts';
import type { PageStage, PageState } from '../page-states.ts';
import { password } from '../sign-in-fixture.ts';
import { press, sendForm } from './hand.ts';

async function open({ service, newContext }: PageStage, query = ''): Promise<Page> {
  const page = await (await newContext()).newPage();
  await page.goto(`${service.app.services.baseUrl}/device${query}`);
  return page;
}

async function codeOf({ service, fixture }: PageStage): Promise<string> {
  const settings = { type: 'NATIVE', allowDeviceGrant: true, name: 'Garden TV' } as const;
  return askUserCode(service, await fixture.createApplication(settings));
}

const typed = async (stage: PageStage, query?: string, code?: string) => {
  const page = await open(stage, query);
  await sendForm(page, { user_code: code ?? (await codeOf(stage)) });
  return page;
};

async function connected(stage: PageStage): Promise<Page> {
  const page = await typed(stage);
  await sendForm(page, {});
  await sendForm(page, { identifier: 'Ada', password });
  return page;
}

/** The pages of people who sign a device in. */
export const deviceStates: readonly PageState[] = [
  { name: 'device', open: (stage) => open(stage) },
  { name: 'device-link', open: (stage) => open(stage, '?user_code=BCDF-GHJK') },
  { name: 'device-wrong', open: (stage) => typed(stage, '', 'BCDF-GHJK') },
  { name: 'device-confirm', open: (stage) => typed(stage) },
  { name: 'device-confirm-german', open: (stage) => typed(stage, '?ui_locales=de') },
  {
    name: 'device-declined',
    async open(stage) {
      const page = await typed(stage);
      await press(page, 'button', 'Do not connect');
      return page;
    },
  },
  { name: 'device-connected', open: connected },
  {
    name: 'device-without-form',
    async open(stage) {
      const page = await open(stage);
      await page.context().clearCookies();
      await sendForm(page, { user_code: 'BCDF-GHJK' });
      return page;
    },
  },
];
