import { findPasswordAlgorithm } from '../../../users/import/imported-password.ts';
import type { Values } from '../fit-record.ts';
import type { Part } from '../part.ts';
import { timeOf, type UserRows } from '../user-rows.ts';

/** Reads users of Logto: of its API, which has no digests, or rows of its table `users`. */
export function readLogtoUsers(users: readonly Part[], rows: UserRows): void {
  for (const user of users) {
    const email = either(user, 'primaryEmail', 'primary_email').text || undefined;
    const phone = either(user, 'primaryPhone', 'primary_phone').text || undefined;
    const { password, fault } = passwordOf(user);
    rows.add(user, {
      formerId: user.text('id'),
      passwordFault: fault,
      values: {
        ...password,
        username: user.text('username') || undefined,
        primaryEmail: email,
        // Logto tells applications that every address it has is verified.
        isEmailVerified: email === undefined ? undefined : true,
        // Logto leaves out the plus sign.
        primaryPhone: phone && `+${phone.replace(/^\+/, '')}`,
        isPhoneVerified: phone === undefined ? undefined : true,
        name: user.text('name') || undefined,
        avatar: user.text('avatar') || undefined,
        profile: user.get('profile').value,
        customData: either(user, 'customData', 'custom_data').value,
        isSuspended: either(user, 'isSuspended', 'is_suspended').flag || undefined,
        createdAt: either(user, 'createdAt', 'created_at').time,
      },
    });
  }
}

/** A field under its name in the API, or in the table. */
function either(user: Part, api: string, column: string) {
  const field = user.has(column) ? column : api;
  user.ignore(api, column);
  return {
    get text() {
      return user.text(field);
    },
    get flag() {
      return user.flag(field);
    },
    get time() {
      return timeOf(user, field);
    },
    value: user.get(field).value,
  };
}

function passwordOf(user: Part): { password?: Values; fault?: string } {
  user.ignore('tenantId', 'tenant_id', 'updatedAt', 'updated_at');
  user.ignore('lastSignInAt', 'last_sign_in_at', 'applicationId', 'application_id', 'hasPassword');
  user.ignore('password_updated_at', 'passwordUpdatedAt', 'cimdClientId', 'cimd_client_id');
  user.ignore('hasSecurityVerificationMethod', 'logto_config', 'logtoConfig');
  const digest = either(user, 'passwordEncrypted', 'password_encrypted').text;
  const method = either(user, 'passwordEncryptionMethod', 'password_encryption_method').text ?? '';
  if (digest === undefined) {
    return user.flag('hasPassword')
      ? { fault: 'the API does not show digests: export the table users' }
      : {};
  }
  const algorithm = findPasswordAlgorithm(method);
  return algorithm
    ? { password: { passwordDigest: digest, passwordAlgorithm: algorithm } }
    : { fault: `importUsers takes no digest of the algorithm ${method || '(none)'}` };
}
