const queries = new Set<() => void>();

/** Has a query asked again whenever something was changed; returns how to end that. */
export function refreshed(askAgain: () => void): () => void {
  queries.add(askAgain);
  return () => queries.delete(askAgain);
}

/**
 * Asks again for all that is on the screen. The cache knows which records a mutation changed, but not which lists,
 * counts, and pages it changed with them; few queries are on the screen at a time.
 */
export function refresh(): void {
  for (const askAgain of [...queries]) askAgain();
}
