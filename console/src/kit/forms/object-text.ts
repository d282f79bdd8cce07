/** Parses a text as a JSON object; undefined if it is none. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a text is a JSON object. */
export const isObjectText = (text: string): boolean => objectIn(text) !== undefined;

/** Formats a JSON object for editing. */
export const objectText = (value: unknown): string => JSON.stringify(value ?? {}, null, 2);
