import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../support/peers/free-port.ts';
import { layOut, missingOf, type Setting, type Started, startProgram } from './program.ts';
import { call, startUpstream } from './upstream.ts';

const program = '/usr/sbin/haproxy';

export const haproxyMissing = missingOf({ haproxy: program });

/** Starts HAProxy, with the keys of the moment. */
export async function startHaproxy(setting: Setting): Promise<Started> {
  const address = `127.0.0.1:${await freePort()}`;
  const values = { ...setting, PORT: address, UPSTREAM: await startUpstream() };
  const folder = await layOut('haproxy', values);
  const fetchKeys = () =>
    promisify(execFile)(process.execPath, [join(folder, 'keys.js'), join(folder, 'signet')], {
      env: { ISSUER: setting.ISSUER },
    });
  await fetchKeys();
  const files = ['signet/keys.cfg', 'haproxy.cfg'].flatMap((name) => ['-f', join(folder, name)]);
  const url = `http://${address}/`;
  const master = await startProgram(program, ['-W', ...files], () => call(url, ''));
  return {
    ask: (token) => call(url, token),
    async renewKeys() {
      await fetchKeys();
      master.kill('SIGUSR2');
    },
  };
}
