/** The parts of an `Authorization` header with one token of credentials (RFC 9110 §11.4); undefined for any other. */
function partsOf(
  authorization: string,
): readonly [scheme: string, credentials: string] | undefined {
  const [, scheme, credentials] = /^(\S+) +(\S+)$/.exec(authorization) ?? [];
  return scheme === undefined || credentials === undefined ? undefined : [scheme, credentials];
}

/**
 * The credentials of an `Authorization` header, in any encoding; undefined if it has another form or scheme. A scheme is
 * the same in any letter case, and any number of spaces may follow it (RFC 9110 §11.1, §11.4).
 */
export function credentialsOf(
  authorization: string,
  scheme: 'Basic' | 'Bearer' | 'DPoP' | 'Interaction',
): string | undefined {
  const [given, credentials] = partsOf(authorization) ?? [];
  return given?.toLowerCase() === scheme.toLowerCase() ? credentials : undefined;
}

/** The header with one space, for a library that takes no more. */
export const withOneSpace = (authorization: string): string =>
  partsOf(authorization)?.join(' ') ?? authorization;
