/** Whether a text is a JSON object. */
export function isObjectText(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** A JSON object as a text that people edit. */
export const objectText = (value: unknown): string => JSON.stringify(value ?? {}, null, 2);
