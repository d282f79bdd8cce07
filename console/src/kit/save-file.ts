/** Offers a text to keep as a file. */
export function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** Rows of texts as CSV. */
export const csvText = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');

// A spreadsheet calculates what begins like a formula (OWASP, CSV injection); an apostrophe makes it text. A phone
// number is only a number.
function cellOf(text: string): string {
  const safe = /^([=\-@\t\r]|\+(?!\d+$))/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
