const dayMs = 86_400_000;

/** The time that many days ago, from a number in the address; undefined without one. */
export const daysAgo = (days: string | undefined): string | undefined =>
  days && /^\d{1,4}$/.test(days)
    ? // To the day: the same variables all day long, so that one answer serves.
      new Date((Math.floor(Date.now() / dayMs) - Number(days)) * dayMs).toISOString()
    : undefined;
