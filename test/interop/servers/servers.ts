import { authOpenidcMissing, oauth2Missing, startAuthOpenidc, startOauth2 } from './apache.ts';
import { dovecotMissing, startDovecot } from './dovecot.ts';
import { haproxyMissing, startHaproxy } from './haproxy.ts';
import { nginxMissing, startNginx } from './nginx.ts';
import { type Setting, type Started, versionOf } from './program.ts';
import { rabbitmqMissing, startRabbitmq } from './rabbitmq.ts';

/** A server that checks tokens by the files of examples/verifiers/servers. */
export interface Server {
  readonly name: string;
  /** Its folder there. */
  readonly folder: string;
  readonly version: string;
  /** Why it cannot start here; undefined if it can. */
  readonly missing: string | undefined;
  /** The algorithms that it takes. */
  readonly taken: readonly string[];
  /** What it answers otherwise than an API in a language, as docs/checking-tokens.md says. */
  readonly otherwise?: Readonly<Record<string, number>>;
  start(setting: Setting): Promise<Started>;
}

const all = ['ES256', 'ES384', 'EdDSA', 'PS256', 'RS256'];
const allButEdDsa = ['ES256', 'ES384', 'PS256', 'RS256'];
const nginx = { folder: 'nginx', version: versionOf('nginx'), missing: nginxMissing };

/** All of them, in the order of docs/checking-tokens.md. */
export const servers: readonly Server[] = [
  { ...nginx, name: 'nginx', taken: allButEdDsa, start: (setting) => startNginx(setting, '/') },
  {
    ...nginx,
    name: 'nginx, by introspection',
    taken: all,
    start: (setting) => startNginx(setting, '/at-once/'),
  },
  {
    name: 'mod_auth_openidc',
    folder: 'apache',
    version: versionOf('libapache2-mod-auth-openidc'),
    missing: authOpenidcMissing,
    taken: allButEdDsa,
    start: startAuthOpenidc,
  },
  {
    name: 'mod_oauth2',
    folder: 'apache',
    version: versionOf('libapache2-mod-oauth2'),
    missing: oauth2Missing,
    taken: allButEdDsa,
    start: startOauth2,
  },
  {
    name: 'HAProxy',
    folder: 'haproxy',
    version: versionOf('haproxy'),
    missing: haproxyMissing,
    taken: ['ES256', 'ES384', 'RS256'],
    start: startHaproxy,
  },
  {
    name: 'Dovecot, by introspection',
    folder: 'dovecot',
    version: versionOf('dovecot-core'),
    missing: dovecotMissing,
    taken: all,
    // A login that lacks the scope is one that failed.
    otherwise: { scope: 401 },
    start: startDovecot,
  },
  {
    name: 'RabbitMQ',
    folder: 'rabbitmq',
    version: versionOf('rabbitmq-server'),
    missing: rabbitmqMissing,
    taken: all,
    // It looks at none of the three.
    otherwise: { issuer: 200, type: 200, 'no exp': 200 },
    start: startRabbitmq,
  },
];
