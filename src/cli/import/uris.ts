import type { Part } from './part.ts';

/** Keeps the URIs that are whole. Signet compares redirect URIs and origins character by character. */
export const exactUris = (part: Part, field: string, uris: readonly string[]): string[] =>
  uris.filter((uri) => {
    const isExact = !/[*{}]/.test(uri);
    if (!isExact) part.leave(`${field}: ${uri} is a pattern, and Signet takes whole URIs`);
    return isExact;
  });

/** The origins of URIs, each once. */
export const originsOf = (uris: readonly string[]): string[] => [
  ...new Set(
    uris.flatMap((uri) => {
      const origin = URL.parse(uri)?.origin;
      return origin === undefined || origin === 'null' ? [] : [origin];
    }),
  ),
];
