import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { send } from '../../support/operations/graphql.ts';
import { chromiumPath, leaveChromium, openChromium } from '../../support/peers/chromium.ts';
import { startService } from '../../support/service.ts';

describe.runIf(chromiumPath)('GraphiQL in a browser', async () => {
  if (!chromiumPath) return;
  const service = await startService();
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  const hosts = new Set<string>();

  beforeAll(async () => {
    browser = await openChromium();
    page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      if (!/^(data|blob):/.test(request.url())) hosts.add(new URL(request.url()).host);
    });
  });
  afterAll(leaveChromium);

  /** Opens GraphiQL with a document, as a link to it does, and types the headers. */
  async function open(query: string, headers: Record<string, string> = {}) {
    const address = new URL('/graphql', service.url);
    address.searchParams.set('query', query);
    await page.goto(address.href);
    await page.locator('.graphiql-query-editor .view-line').first().waitFor();
    await page.getByRole('button', { name: 'Headers', exact: true }).click();
    await page.locator('.graphiql-editor-tool .monaco-editor:visible').click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(JSON.stringify(headers));
  }
  const execute = () => page.getByRole('button', { name: /^execute query/i }).click();
  // The editor shows spaces as characters of their own.
  const result = async () =>
    (await page.locator('.result-window .view-lines').innerText()).replaceAll('\u00a0', ' ');

  test('loads, and sends requests without a token', async () => {
    await open('{ __typename }');
    await execute();
    await expect.poll(result).toContain('"__typename": "Query"');
  });

  test('sends the typed headers', async () => {
    const authorization = `Bearer ${await service.managementToken()}`;
    await open('{ roles { totalCount } }', { authorization });
    await execute();
    await expect.poll(result).toMatch(/"totalCount": \d/);
  });

  test('subscribes over WebSocket', async () => {
    const token = await service.managementToken();
    const sockets: string[] = [];
    page.on('websocket', (socket) => sockets.push(new URL(socket.url()).pathname));
    await open('subscription { events { name } }', { Authorization: `Bearer ${token}` });
    await execute();
    await expect
      .poll(async () => {
        const create = `mutation { createRole(input: { name: "${randomUUID()}" }) { __typename } }`;
        expect((await send({ url: service.url, token }, create)).status).toBe(200);
        return result();
      })
      .toContain('"name": "Role.Created"');
    expect(sockets).toContain('/graphql');
  });

  test('breaks no policy, logs no error, loads nothing foreign', () => {
    expect(complaints).toEqual([]);
    expect([...hosts]).toEqual([new URL(service.url).host]);
  });
});
