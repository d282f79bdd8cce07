import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../support/peers/free-port.ts';
import { authority, startHttpsFront } from './https-front.ts';
import { layOut, missingOf, type Setting, type Started, startProgram } from './program.ts';
import { call, startUpstream } from './upstream.ts';

const program = '/usr/sbin/apache2';
const fileOf = (module: string) => `/usr/lib/apache2/modules/mod_${module}.so`;

export const authOpenidcMissing = missingOf({
  apache2: program,
  'libapache2-mod-auth-openidc': fileOf('auth_openidc'),
});
export const oauth2Missing = missingOf({
  apache2: program,
  'libapache2-mod-oauth2': fileOf('oauth2'),
});

// What Debian has on, and what the first lines of the examples switch on.
const usual = ['authn_core', 'authz_core', 'authz_user', 'env', 'mpm_event', 'setenvif'];
const added = ['headers', 'proxy', 'proxy_http', 'rewrite'];

/** Starts Apache with a module, by the file of its name. */
async function startApache(
  module: string,
  setting: Readonly<Record<string, string>>,
  elsewhere: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const port = String(await freePort());
  const values = { ...setting, PORT: port, UPSTREAM: await startUpstream() };
  const folder = await layOut('apache', values, () => elsewhere);
  await writeFile(join(folder, 'authority.pem'), authority);
  const main = join(folder, 'apache2.conf');
  await writeFile(
    main,
    `${[...usual, ...added, module].map((name) => `LoadModule ${name}_module ${fileOf(name)}`).join('\n')}
    ServerRoot ${folder}
    ServerName localhost
    DefaultRuntimeDir ${folder}
    PidFile apache2.pid
    ErrorLog error.log
    Listen 127.0.0.1:${port}
    <IfModule auth_openidc_module>
      OIDCCABundlePath ${folder}/authority.pem
    </IfModule>
    Include ${folder}/mod_${module}.conf
    `,
  );
  const url = `http://127.0.0.1:${port}/`;
  await startProgram(program, ['-D', 'FOREGROUND', '-f', main], () => call(url, ''));
  return { ask: (token) => call(url, token) };
}

/** Starts Apache with mod_auth_openidc, which reads keys by HTTPS alone. */
export async function startAuthOpenidc(setting: Setting): Promise<Started> {
  const front = await startHttpsFront(setting.ISSUER);
  const keys = `${setting.ISSUER}/jwks`;
  return startApache(
    'auth_openidc',
    { ...setting, PASSPHRASE: 'a-secret-for-tests' },
    { [keys]: keys.replace(new URL(keys).origin, front) },
  );
}

/** Starts Apache with mod_oauth2. */
export const startOauth2 = (setting: Setting): Promise<Started> =>
  startApache('oauth2', { ...setting });
