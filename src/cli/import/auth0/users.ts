import type { Part } from '../part.ts';
import { type ExportedUser, namedDigest, timeOf, type UserRows } from '../user-rows.ts';

/** What is known of one user: the profile of a bulk export, and the digest that the support hands out. */
interface Known {
  profile?: Part;
  digest?: Part;
}

/** Reads users of Auth0: the bulk export of users, and the list of password digests. */
export function readAuth0Users(parts: readonly Part[], rows: UserRows): void {
  const users = new Map<string, Known>();
  for (const part of parts) {
    const id = idOf(part);
    const known = users.get(id) ?? {};
    if (part.has('passwordHash') || part.has('_id')) known.digest = part;
    else known.profile = part;
    users.set(id, known);
  }
  for (const [id, { profile, digest }] of users) {
    const part = profile ?? digest;
    if (part) addUser(part, digest, id, rows);
  }
}

function idOf(part: Part): string {
  const id = part.get('_id');
  const oid = typeof id.value === 'string' ? id.value : id.text('$oid');
  return part.text('user_id') ?? (oid ? `auth0|${oid}` : part.place);
}

function addUser(part: Part, digests: Part | undefined, id: string, rows: UserRows): void {
  const digest = digests?.text('passwordHash');
  const named = digest === undefined ? undefined : namedDigest(digest);
  const metadata = [part.get('user_metadata').value, part.get('app_metadata').value];
  const user: ExportedUser = {
    formerId: id === part.place ? undefined : id,
    passwordFault:
      digest !== undefined && !named
        ? 'its digest is in no format that importUsers takes'
        : undefined,
    values: {
      ...named,
      username: part.text('username'),
      primaryEmail: part.text('email'),
      isEmailVerified: part.has('email')
        ? (part.flag('email_verified') ?? part.flag('emailVerified'))
        : undefined,
      primaryPhone: part.text('phone_number'),
      isPhoneVerified: part.has('phone_number') ? part.flag('phone_verified') : undefined,
      name: part.text('name'),
      avatar: part.text('picture'),
      profile: profileOf(part),
      customData: Object.assign({}, ...metadata.filter((one) => typeof one === 'object')),
      isSuspended: part.flag('blocked') || undefined,
      createdAt: timeOf(part, 'created_at'),
    },
  };
  part.ignore('_id', 'user_id', 'passwordHash', 'password_set_date', 'tenant', 'connection');
  part.ignore('updated_at', 'last_login', 'last_ip', 'logins_count', 'version');
  part.ignore('last_password_reset', 'email_verified', 'phone_verified', 'emailVerified');
  part.ignore('_tmp_is_unique');
  rows.add(part, user);
}

function profileOf(part: Part): Record<string, string> {
  return Object.fromEntries(
    ['given_name', 'family_name', 'nickname'].flatMap((claim) => {
      const value = part.text(claim);
      return value ? [[claim, value]] : [];
    }),
  );
}
