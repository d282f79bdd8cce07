type Channels = readonly [red: number, green: number, blue: number];

const parse = (color: string): Channels => {
  const digits = color.slice(1);
  const at = (start: number) => Number.parseInt(digits.slice(start, start + 2), 16);
  return [at(0), at(2), at(4)];
};

const print = (channels: Channels): string =>
  `#${channels.map((channel) => Math.round(channel).toString(16).padStart(2, '0')).join('')}`;

const mapped = (
  [red, green, blue]: Channels,
  map: (channel: number, i: 0 | 1 | 2) => number,
): Channels => [map(red, 0), map(green, 1), map(blue, 2)];

/** Relative luminance (WCAG 2.2, definition of the term). */
function luminance(channels: Channels): number {
  const [red, green, blue] = mapped(channels, (channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast ratio of two colours, each `#rrggbb`: from 1 to 21 (WCAG 2.2, definition of the term). */
export function contrast(one: string, other: string): number {
  const [some, others] = [luminance(parse(one)), luminance(parse(other))];
  const [dark, light] = [Math.min(some, others), Math.max(some, others)];
  return (light + 0.05) / (dark + 0.05);
}

/** Black or white, whichever reads better on a colour. The better one always reaches 4.5. */
export const readableOn = (color: string): string =>
  contrast(color, '#ffffff') >= contrast(color, '#000000') ? '#ffffff' : '#000000';

/** The colour, mixed with just enough black or white to stand out from a surface. */
export function standingOut(color: string, surface: string, ratio: number): string {
  const towards = parse(readableOn(surface));
  const from = parse(color);
  for (let share = 0; share <= 1; share += 0.05) {
    const mixed = mapped(from, (channel, i) => channel + (towards[i] - channel) * share);
    if (contrast(print(mixed), surface) >= ratio) return print(mixed);
  }
  return print(towards);
}
