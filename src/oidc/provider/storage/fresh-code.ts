import type { KoaContextWithOIDC } from 'oidc-provider';

/** Marks the stored payload of an authorization code from a new sign-in. */
export const freshCode = 'isOfNewSignIn';

/**
 * Whether the answer to a request comes from a sign-in that the application asked for by `prompt=login`, and not from
 * the session that the browser had.
 */
export const isNewSignIn = (ctx: KoaContextWithOIDC | undefined): boolean =>
  ctx?.oidc.result?.login !== undefined && ctx.oidc.prompts.has('login');
