import { writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../support/peers/free-port.ts';
import { layOut, missingOf, type Setting, type Started, startProgram } from './program.ts';
import { call, startUpstream } from './upstream.ts';

const program = '/usr/sbin/nginx';
const njs = '/usr/lib/nginx/modules/ngx_http_js_module.so';

export const nginxMissing = missingOf({ nginx: program, 'libnginx-mod-http-js': njs });

/** Starts nginx, and asks for what is below a path. */
export async function startNginx(setting: Setting, path: string): Promise<Started> {
  const port = await freePort();
  const folder = await layOut(
    'nginx',
    { ...setting, PORT: `127.0.0.1:${port}`, UPSTREAM: await startUpstream() },
    (folder) => ({ '/var/lib/nginx/': `${folder}/` }),
  );
  // What /etc/nginx/nginx.conf has on Debian, with all that it writes in this folder.
  const main = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  await writeFile(
    main,
    `load_module ${njs};
    user ${userInfo().username};
    daemon off;
    pid ${folder}/nginx.pid;
    error_log stderr;
    events {}
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n')}
      include ${folder}/api.conf;
    }`,
  );
  const url = `http://127.0.0.1:${port}${path}`;
  await startProgram(program, ['-c', main, '-p', folder, '-e', 'stderr'], () => call(url, ''));
  return { ask: (token) => call(url, token) };
}
