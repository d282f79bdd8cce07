const steps = [1, 2, 4, 6, 8, 10];

/** The top of an axis: a round number that is not below any value, and whose half is whole. */
export function topOf(values: readonly number[]): number {
  const most = Math.max(0, ...values);
  if (most <= 4) return 4;
  const power = 10 ** Math.floor(Math.log10(most));
  return power * (steps.find((step) => step * power >= most) ?? 10);
}

/** The points of a line, broken where there is no value. */
export function lineOf(
  values: readonly (number | null)[],
  top: number,
  { width, height }: { readonly width: number; readonly height: number },
): string {
  const step = width / Math.max(1, values.length);
  let isBroken = true;
  return values
    .map((value, index) => {
      if (value === null) {
        isBroken = true;
        return '';
      }
      const command = isBroken ? 'M' : 'L';
      isBroken = false;
      const x = round((index + 0.5) * step);
      const y = round(height - (value / top) * height);
      // A single point has a length of its own, or nothing would be drawn.
      return `${command}${x} ${y}${command === 'M' ? 'h0.01' : ''}`;
    })
    .join('');
}

const round = (value: number): number => Math.round(value * 100) / 100;
