/** What was seen, and what it had to be. */
export interface Seen {
  readonly seen: string | number;
  readonly due: string | number;
}

/** A table to print: what was otherwise than it had to be is marked. */
export function tableOf(rows: readonly Readonly<Record<string, string | Seen>>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const texts = rows.map((row) => names.map((name) => textOf(row[name])));
  const widths = names.map((name, index) =>
    Math.max(name.length, ...texts.map((cells) => cells[index]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(' | ')} |\n`;
  return `\n${line(names)}${texts.map(line).join('')}\n`;
}

function textOf(cell: string | Seen | undefined): string {
  if (cell === undefined || typeof cell === 'string') return cell ?? '';
  const { seen, due } = cell;
  return seen === due ? String(seen) : `${seen}, not ${due}`;
}
