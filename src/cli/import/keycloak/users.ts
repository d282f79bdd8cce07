import type { Values } from '../fit-record.ts';
import type { Part } from '../part.ts';
import { namedDigest, timeOf, type UserRows } from '../user-rows.ts';
import type { Realm } from './realm.ts';

const prfs: Readonly<Record<string, string>> = {
  pbkdf2: 'sha1',
  'pbkdf2-sha256': 'sha256',
  'pbkdf2-sha512': 'sha512',
};

/** Reads the users of a realm with their passwords. */
export function readKeycloakUsers({ users }: Realm, rows: UserRows): void {
  for (const user of users) {
    const { password, fault } = passwordOf(user);
    const [username, email] = [user.text('username'), user.text('email') || undefined];
    const names = [user.text('firstName'), user.text('lastName')];
    const attributes = user.get('attributes');
    const phone = attributes.list('phoneNumber')[0]?.value;
    rows.add(user, {
      formerId: user.text('id'),
      passwordFault: fault,
      values: {
        ...password,
        // Keycloak names users by their address where a realm says so.
        username: username?.toLowerCase() === email?.toLowerCase() ? undefined : username,
        primaryEmail: email,
        isEmailVerified: email === undefined ? undefined : user.flag('emailVerified'),
        primaryPhone: phone,
        name: names.filter((one) => one).join(' ') || undefined,
        profile: Object.fromEntries(
          ['given_name', 'family_name'].flatMap((claim, index) =>
            names[index] ? [[claim, names[index]]] : [],
          ),
        ),
        customData: attributes.value ?? {},
        isSuspended: user.flag('enabled') === false || undefined,
        createdAt: timeOf(user, 'createdTimestamp'),
      },
    });
  }
}

/** The password of a user, as fields of a row. */
function passwordOf(user: Part): { password?: Values; fault?: string } {
  user.ignore('totp', 'notBefore', 'disableableCredentialTypes', 'access');
  const credentials = user.list('credentials');
  const one = credentials.find((credential) => credential.text('type') === 'password');
  for (const credential of credentials) {
    if (credential === one) continue;
    credential.leave(
      `is not taken: importUsers has no ${credential.text('type') ?? 'such'} credentials`,
    );
  }
  if (!one) return {};
  if (one.flag('temporary')) return { fault: 'it is temporary' };
  // Realms that people write, and not Keycloak, have passwords in clear.
  if (one.has('value')) return { password: { password: one.text('value') } };
  const [secret, data] = [inside(one, 'secretData'), inside(one, 'credentialData')];
  // Until Keycloak 7, the fields stood in the credential itself.
  const hash = secret.text('value') ?? one.text('hashedSaltedValue');
  const salt = secret.text('salt') ?? one.text('salt');
  const algorithm = data.text('algorithm') ?? one.text('algorithm') ?? '';
  const iterations = data.number('hashIterations') ?? one.number('hashIterations');
  if (hash === undefined) return { fault: 'the export has no digest of it' };
  const digest = digestOf({
    algorithm,
    hash,
    salt,
    iterations,
    more: data.get('additionalParameters'),
  });
  return digest
    ? { password: digest }
    : { fault: `importUsers takes no digest of the algorithm ${algorithm || '(none)'}` };
}

/** JSON in a text, as Keycloak keeps it in its database. */
function inside(part: Part, field: string): Part {
  const text = part.text(field);
  try {
    return part.get(field).with(text === undefined ? undefined : JSON.parse(text));
  } catch {
    part.leave(`${field}: is no JSON`);
    return part.get(field).with(undefined);
  }
}

function digestOf(of: {
  readonly algorithm: string;
  readonly hash: string;
  readonly salt: string | undefined;
  readonly iterations: number | undefined;
  readonly more: Part;
}): Values | undefined {
  const { algorithm, hash, salt = '', iterations = 0, more } = of;
  const prf = Object.hasOwn(prfs, algorithm) ? prfs[algorithm] : undefined;
  if (prf) {
    return {
      passwordDigest: `$pbkdf2-${prf}$i=${iterations}$${salt}$${hash}`,
      passwordAlgorithm: 'PBKDF2',
    };
  }
  if (algorithm !== 'argon2') return namedDigest(hash);
  const parameter = (name: string) => more.texts(name)[0];
  const version = parameter('version') === '1.0' ? 16 : 19;
  const costs = `m=${parameter('memory')},t=${iterations},p=${parameter('parallelism')}`;
  return {
    passwordDigest: `$argon2${parameter('type')}$v=${version}$${costs}$${salt}$${hash}`,
    passwordAlgorithm: `Argon2${parameter('type')}`,
  };
}
