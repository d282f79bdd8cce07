const queries = new Set<() => void>();

/** Runs a query again after every mutation; returns a function that stops it. */
export function refreshed(refetch: () => void): () => void {
  queries.add(refetch);
  return () => queries.delete(refetch);
}

/**
 * Runs all queries on the screen again. The cache knows which records a mutation changed, but not which lists, counts
 * and pages depend on them; few queries are on the screen at a time.
 */
export function refresh(): void {
  for (const refetch of [...queries]) refetch();
}
