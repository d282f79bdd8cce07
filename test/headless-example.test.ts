import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createSignInFixture, password } from './support/people/sign-in-fixture.ts';
import { startService } from './support/service.ts';

const service = await startService();
const fixture = await createSignInFixture(service);

test('the example of a headless sign-in signs in', async () => {
  const { id } = await fixture.directory.createClient({
    type: 'NATIVE',
    redirectUris: ['com.example.app:/callback'],
    allowHeadlessSignIn: true,
  });
  const { stdout } = await promisify(execFile)(process.execPath, ['examples/headless-sign-in.ts'], {
    env: {
      SIGNET: service.app.services.baseUrl,
      CLIENT_ID: id,
      USER_NAME: 'Ada',
      PASSWORD: password,
    },
  });
  expect(stdout).toContain(fixture.user.id);
});
