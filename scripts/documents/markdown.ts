/** A Markdown table; its cells hold Markdown. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');

export const code = (text: string | number): string => `\`${text}\``;

export const codes = (texts: readonly (string | number)[]): string => texts.map(code).join(', ');
