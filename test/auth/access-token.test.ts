import { expect, test } from 'vitest';
import { seedDirectory } from '../support/operations/directory.ts';
import { startService } from '../support/service.ts';
import { exchange, userToken } from '../support/tokens.ts';

const service = await startService();
const directory = seedDirectory(service.app.services.database, service.clock);
const user = await directory.createUser();
const frontend = await directory.createClient({ type: 'SPA' });
const backend = await directory.createClient({ allowTokenExchange: true });
const resource = await directory.createResource([]);

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** Every text that a lenient decoder takes for the same bytes. */
function spellings(text: string): string[] {
  const free = { 2: 16, 3: 4 }[text.length % 4] ?? 1;
  const last = alphabet.indexOf(text.at(-1) as string);
  const first = last - (last % free);
  return Array.from({ length: free }, (_, i) => text.slice(0, -1) + alphabet[first + i]);
}
const isTaken = async (token: string) =>
  (await exchange(service, backend, { subject_token: token, resource: resource.indicator }))
    .status === 200;

test('accepts one of the sixteen spellings of a signature', async () => {
  const token = await userToken(service, user.id, frontend);
  const [header, payload, signature = ''] = token.split('.');
  const all = spellings(signature);
  expect(all).toHaveLength(16);
  expect(all).toContain(signature);
  for (const spelling of all) {
    const bytes = Buffer.from(signature, 'base64url');
    expect(Buffer.from(spelling, 'base64url')).toEqual(bytes);
    expect(await isTaken(`${header}.${payload}.${spelling}`)).toBe(spelling === signature);
  }
  for (const ending of ['=', '==', ' ', '\n', '.', 'A']) {
    expect(await isTaken(`${token}${ending}`), JSON.stringify(ending)).toBe(false);
  }
});
