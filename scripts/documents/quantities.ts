/** A number as people write it. */
export const number = (value: number): string => value.toLocaleString('en');

/** A number of bytes in the largest unit that leaves no fraction. */
export function bytes(value: number): string {
  if (value % 1024 ** 2 === 0) return `${value / 1024 ** 2} MiB`;
  return value % 1024 === 0 ? `${value / 1024} KiB` : `${number(value)} bytes`;
}

const units = [
  ['day', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** A time in the largest unit that leaves no fraction. */
export function time(seconds: number): string {
  const [unit, size] = units.find(([, each]) => seconds % each === 0) ?? ['s', 1];
  const count = seconds / size;
  return `${number(count)} ${unit === 'day' && count !== 1 ? 'days' : unit}`;
}
