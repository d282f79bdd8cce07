const firstMs = 500;
const longestMs = 30_000;
/** A worker that has answered requests for so long did not die of its start. */
export const provedMs = 60_000;

/**
 * How long to wait before a worker is started again.
 *
 * @param deaths How often it has died in a row without having answered requests for {@link provedMs}; at least 1.
 */
export const backOffMs = (deaths: number): number =>
  deaths <= 1 ? 0 : Math.min(longestMs, firstMs * 2 ** (deaths - 2));
