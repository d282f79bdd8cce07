// As the service's own pages choose their colours, so that the preview tells the truth.

type Channels = readonly [red: number, green: number, blue: number];

const parse = (color: string): Channels => {
  const at = (start: number) => Number.parseInt(color.slice(start, start + 2), 16);
  return [at(1), at(3), at(5)];
};

const print = (channels: readonly number[]): string =>
  `#${channels.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`;

const linear = (channel: number): number => {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
};

// Relative luminance (WCAG 2.2, definition of the term).
const luminance = (color: string): number => {
  const [red, green, blue] = parse(color);
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
};

const contrast = (one: string, other: string): number => {
  const [a, b] = [luminance(one), luminance(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
};

/** Signet's own colour, where no other is set. */
export const signetColor = '#3447d4';

/** Whether a text is a colour as the API takes it. */
export const isColor = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text);

/** Black or white, whichever reads better on a colour. */
export const readableOn = (color: string): string =>
  contrast(color, '#ffffff') >= contrast(color, '#000000') ? '#ffffff' : '#000000';

/** The colour, mixed with just enough black or white to be read on a surface. */
export function standingOut(color: string, surface: string): string {
  const towards = parse(readableOn(surface));
  const from = parse(color);
  for (let share = 0; share <= 1; share += 0.05) {
    const mixed = print(
      from.map((channel, index) => channel + ((towards[index] ?? 0) - channel) * share),
    );
    if (contrast(mixed, surface) >= 4.5) return mixed;
  }
  return print(towards);
}
