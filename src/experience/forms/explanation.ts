import type { Visit } from './visit.ts';

/** Why an identity provider sent the person back, in the page's language. */
export function explanationOf({ interaction, texts: t }: Visit): string | undefined {
  const { error, newcomer } = interaction;
  return error === null ? undefined : t.federation[error]?.(newcomer?.email ?? null);
}
