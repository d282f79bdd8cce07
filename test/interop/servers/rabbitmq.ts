import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { closeAtEnd } from '../../support/cleanup.ts';
import { freePort } from '../../support/peers/free-port.ts';
import { logIn } from './amqp.ts';
import { authority, startHttpsFront } from './https-front.ts';
import { layOut, missingOf, type Setting, type Started, startProgram } from './program.ts';

// The one in /usr/sbin changes to another user.
const program = '/usr/lib/rabbitmq/bin/rabbitmq-server';

export const rabbitmqMissing = missingOf({ 'rabbitmq-server': program });

/** Starts RabbitMQ, which reads keys by HTTPS alone. */
export async function startRabbitmq(setting: Setting): Promise<Started> {
  const [port, distributionPort, epmdPort] = [await freePort(), await freePort(), await freePort()];
  const front = await startHttpsFront(setting.ISSUER);
  const keys = `${setting.ISSUER}/jwks`;
  const folder = await layOut('rabbitmq', { ...setting, PORT: `127.0.0.1:${port}` }, (here) => ({
    [keys]: keys.replace(new URL(keys).origin, front),
    '/etc/ssl/certs/ca-certificates.crt': `${here}/authority.pem`,
  }));
  await writeFile(join(folder, 'authority.pem'), authority);
  await writeFile(join(folder, 'enabled_plugins'), '[rabbitmq_auth_backend_oauth2].');
  // Erlang's directory of nodes leaves the group of who started it.
  closeAtEnd(async () => {
    spawnSync('epmd', ['-port', String(epmdPort), '-kill']);
  });
  await startProgram(program, [], () => logIn(port, ''), {
    HOME: folder,
    ERL_EPMD_PORT: String(epmdPort),
    RABBITMQ_NODENAME: `signet-${port}@localhost`,
    RABBITMQ_DIST_PORT: String(distributionPort),
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
    RABBITMQ_ADVANCED_CONFIG_FILE: join(folder, 'advanced.config'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'enabled_plugins'),
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_PID_FILE: join(folder, 'pid'),
  });
  return { ask: (token) => logIn(port, token) };
}
