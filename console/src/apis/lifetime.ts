/** The longest lifetime that the service accepts. */
export const longestSeconds = 2_592_000;

/** Whether an API is Signet's own. */
export const isOwn = (indicator: string): boolean => indicator.startsWith('urn:signet:');
