import * as z from 'zod/mini';
import { DurationField } from '../kit/forms/duration-field.tsx';
import { useMessages } from '../kit/language/language.ts';
import { longestSeconds } from './lifetime.ts';
import { apiPageMessages } from './messages.ts';

/** The schema of a token lifetime in seconds. */
export function useLifetimeSchema() {
  const { lifetimeBounds } = useMessages(apiPageMessages);
  return z
    .int(lifetimeBounds)
    .check(z.gte(1, lifetimeBounds), z.lte(longestSeconds, lifetimeBounds));
}

/** The field of a token lifetime in seconds. */
export function LifetimeField() {
  const t = useMessages(apiPageMessages);
  return <DurationField name="accessTokenTtlSeconds" label={t.lifetime} hint={t.lifetimeHint} />;
}
