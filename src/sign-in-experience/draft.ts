import { settingsInput } from './operations.ts';
import { defaultSignInExperience, type SignInExperience } from './settings.ts';

const { shape } = settingsInput;
const fields = [
  'signUpEnabled',
  'signUpIdentifiers',
  'signInIdentifiers',
  'passwordEnabled',
  'codeEnabled',
  'factors',
] as const;
const groups = ['branding', 'passwordPolicy', 'codePolicy'] as const;

/**
 * The settings as they would be with values that nobody has saved, for a preview. What `updateSignInExperience` would
 * refuse stays as it is: somebody may be typing it.
 */
export function withDraft(saved: SignInExperience, draft: unknown): SignInExperience {
  const given = recordOf(draft);
  const result: Record<string, unknown> = { ...saved };
  for (const field of fields) {
    const parsed = shape[field].safeParse(given[field]);
    if (parsed.success && parsed.data != null) result[field] = parsed.data;
  }
  for (const group of groups) {
    const values: Record<string, unknown> = { ...saved[group] };
    for (const [name, value] of Object.entries(recordOf(given[group]))) {
      if (!Object.hasOwn(values, name)) continue;
      const parsed = shape[group].safeParse({ [name]: value });
      const read = parsed.success && recordOf(parsed.data)[name];
      if (read === null) values[name] = recordOf(defaultSignInExperience[group])[name];
      else if (parsed.success && read !== undefined) values[name] = read;
    }
    result[group] = values;
  }
  // Each value is of the saved settings, their defaults, or was parsed by the schema of its field.
  return result as unknown as SignInExperience;
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
