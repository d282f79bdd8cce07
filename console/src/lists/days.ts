const dayMs = 86_400_000;

/** The moment some days ago, as an address gives their number; undefined where it gives none. */
export const daysAgo = (days: string | undefined): string | undefined =>
  days && /^\d{1,4}$/.test(days)
    ? // To the day: the same variables all day long, so that one answer serves.
      new Date((Math.floor(Date.now() / dayMs) - Number(days)) * dayMs).toISOString()
    : undefined;
