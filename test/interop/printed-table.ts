/** A table to print, one row for each record; a field's name is its column's. */
export function tableOf(rows: readonly Record<string, string>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const widths = names.map((name) =>
    Math.max(name.length, ...rows.map((row) => (row[name] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |\n`;
  return `\n${line(names)}${rows.map((row) => line(names.map((name) => row[name] ?? ''))).join('')}\n`;
}
