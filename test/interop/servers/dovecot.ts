import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { decodeJwt } from 'jose';
import { freePort } from '../../support/peers/free-port.ts';
import { layOut, missingOf, type Setting, type Started, startProgram } from './program.ts';

const program = '/usr/sbin/dovecot';

export const dovecotMissing = missingOf({
  'dovecot-imapd': '/usr/lib/dovecot/imap-login',
});

/** Starts a Dovecot for IMAP. A login is answered as an API would: 200 or 401. */
export async function startDovecot(setting: Setting): Promise<Started> {
  const port = await freePort();
  const folder = await layOut('dovecot', { ...setting }, (here) => ({
    '/etc/dovecot/': `${here}/`,
  }));
  const { username, uid, gid } = userInfo();
  // Root's Dovecot changes to the users of Debian's package, and anybody else's changes to nobody.
  const users =
    uid === 0 ? '' : `default_internal_user = ${username}\ndefault_login_user = ${username}`;
  const main = join(folder, 'dovecot.conf');
  await mkdir(join(folder, 'run'));
  await writeFile(
    main,
    `protocols = imap
    base_dir = ${folder}/run
    state_dir = ${folder}/state
    log_path = ${folder}/log
    mail_location = maildir:${folder}/mail/%u
    ssl = no
    listen = 127.0.0.1
    ${users}
    # A wrong token is answered at once, however many came before.
    auth_failure_delay = 0
    service anvil {
      unix_listener anvil-auth-penalty {
        mode = 0
      }
    }
    service imap-login {
      inet_listener imap {
        port = ${port}
      }
    }
    userdb {
      driver = static
      args = uid=${uid} gid=${gid}
    }
    first_valid_uid = 0
    first_valid_gid = 0
    !include ${folder}/auth-signet.conf.ext
    `,
  );
  const ask = async (token: string): Promise<number> => {
    const socket = connect(port, '127.0.0.1');
    const lines = createInterface(socket)[Symbol.asyncIterator]();
    const line = async (): Promise<string> => String((await lines.next()).value);
    try {
      await once(socket, 'connect');
      await line();
      const { sub } = decodeJwt(token);
      const bearer = `n,a=${sub},\x01auth=Bearer ${token}\x01\x01`;
      socket.write(`1 AUTHENTICATE OAUTHBEARER ${Buffer.from(bearer).toString('base64')}\r\n`);
      let answer = await line();
      // RFC 7628 §3.2.3: the error is told before the end.
      if (answer.startsWith('+')) {
        socket.write('AQ==\r\n');
        answer = await line();
      }
      if (answer.startsWith('1 OK')) return 200;
      if (answer.startsWith('1 NO [AUTHENTICATIONFAILED]')) return 401;
      throw new Error(`Dovecot answers: ${answer}`);
    } finally {
      socket.destroy();
    }
  };
  const isThere = async () => {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
  };
  await startProgram(program, ['-F', '-c', main], isThere);
  return { ask };
}
