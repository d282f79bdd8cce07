import { createHmac } from 'node:crypto';
import { derivedId } from '../ids.ts';
import type { Cipher } from '../keys/cipher.ts';

const keys = new WeakMap<Cipher, Buffer>();

function keyOf(cipher: Cipher): Buffer {
  const key = keys.get(cipher) ?? cipher.keptKey('membership-ids');
  keys.set(cipher, key);
  return key;
}

/**
 * The id of a membership. It stays the same while the organization and the member exist, so that client caches can
 * recognize it. It is keyed, because a reader of the membership may not be allowed to know the member's id.
 */
export function membershipId(
  { cipher }: { readonly cipher: Cipher },
  membership:
    | { readonly organizationId: string; readonly userId: string }
    | { readonly organizationId: string; readonly applicationId: string },
): string {
  const [prefix, memberId] =
    'userId' in membership ? ['orguser', membership.userId] : ['orgapp', membership.applicationId];
  const digest = createHmac('sha256', keyOf(cipher))
    .update(`${membership.organizationId} ${memberId}`)
    .digest();
  return derivedId(prefix as 'orguser' | 'orgapp', digest);
}
