import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { contrast } from '../../../../src/web/style/colors.ts';

/** An element that a person must be able to reach by Tab, as a page shows it at one moment. */
interface Stop {
  readonly name: string;
  /** Style, width and colour of its outline. */
  readonly ring: readonly [style: string, width: string, color: string];
  /** The colour that the ring lies on. */
  readonly ground: string;
  /** Its lines on the page: left, top, right, bottom. */
  readonly lines: readonly (readonly [number, number, number, number])[];
  /** Whether all of it is inside the window, with its label and a ring around it, and nothing lies above it. */
  readonly isInView: boolean;
}

interface Sight {
  /** The index of the stop with the focus; `note` of a problem, `page` itself, or something that is no stop. */
  readonly focus: number | 'note' | 'page' | 'other';
  readonly stops: readonly Stop[];
  /** Whether the page tells of a problem, and whether all of that is inside the window. */
  readonly note: 'none' | 'in view' | 'out of view';
  /** Whether the page itself chooses where the focus begins. */
  readonly hasAutofocus: boolean;
  readonly fields: readonly {
    /** Its index among the stops. */
    readonly index: number;
    readonly isEmpty: boolean;
    /** Whether it is marked as wrong, and whether something describes it that says what is. */
    readonly isWrong: boolean;
    readonly isExplained: boolean;
  }[];
}

const nameOf = '(e) => (e.ariaLabel ?? e.labels?.[0]?.textContent ?? e.textContent).trim()';

const sight = `(() => {
  const own = 'a[href],area[href],button,input,select,textarea,summary,iframe,audio[controls],video[controls],[contenteditable]';
  const isShown = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const all = [...document.querySelectorAll(own + ',[tabindex]')].filter((e) =>
    isShown(e) && !e.disabled && !e.closest('[inert],[aria-hidden=true]') && (e.matches(own) || e.tabIndex >= 0));
  const nameOf = ${nameOf};
  const groundOf = (e) => {
    const { backgroundColor } = getComputedStyle(e);
    return backgroundColor === 'rgba(0, 0, 0, 0)' && e.parentElement ? groundOf(e.parentElement) : backgroundColor;
  };
  const isInside = (r, edge) => r.left >= edge && r.top >= edge && r.right <= innerWidth - edge && r.bottom <= innerHeight - edge;
  const isBare = (e, r) => [[0.5, 0.5], [0, 0.5], [1, 0.5], [0.5, 0], [0.5, 1]].every(([x, y]) =>
    e.contains(document.elementFromPoint(r.left + 2 + (r.width - 4) * x, r.top + 2 + (r.height - 4) * y)));
  const active = document.activeElement;
  const note = document.getElementById('error');
  const isFault = (id) => document.getElementById(id)?.matches('#error,.wrong') && isShown(document.getElementById(id));
  return {
    focus: all.includes(active) ? all.indexOf(active)
      : active === note ? 'note' : active === document.body || active === null ? 'page' : 'other',
    note: !note || !isShown(note) ? 'none' : isInside(note.getBoundingClientRect(), 5) ? 'in view' : 'out of view',
    hasAutofocus: document.querySelector('[autofocus]') !== null,
    stops: all.map((e) => {
      const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(e);
      const rects = [...e.getClientRects()];
      return {
        name: nameOf(e),
        ring: [outlineStyle, outlineWidth, outlineColor],
        ground: groundOf(e.parentElement),
        lines: rects.map((r) => [r.left + scrollX, r.top + scrollY, r.right + scrollX, r.bottom + scrollY]),
        isInView: rects.every((r) => isInside(r, 5) && isBare(e, r)) &&
          [...(e.labels ?? [])].every((label) => isInside(label.getBoundingClientRect(), 0)),
      };
    }),
    fields: all.filter((e) => e.matches('input,select,textarea')).map((e) => ({
      index: all.indexOf(e),
      isEmpty: e.value === '',
      isWrong: e.ariaInvalid === 'true',
      isExplained: (e.getAttribute('aria-describedby') ?? '').split(' ').some(isFault),
    })),
  };
})()`;

const see = (page: Page): Promise<Sight> => page.evaluate<Sight>(sight);

/** The name of what has the focus; empty if nothing has. */
export const focusedName = (page: Page): Promise<string> =>
  page.evaluate<string>(
    `document.activeElement.tabIndex < 0 ? '' : (${nameOf})(document.activeElement)`,
  );

/** A colour as CSS computes it, in the digits of `#rrggbb`. */
export const hex = (color: string): string =>
  `#${(color.match(/\d+/g) ?? [])
    .slice(0, 3)
    .map((channel) => Number(channel).toString(16).padStart(2, '0'))
    .join('')}`;

const wide = { width: 1280, height: 800 };
// As narrow as pages may get (WCAG 2.2, 1.4.10), and so low that most of them have to scroll.
const small = { width: 320, height: 400 };

/** Whether a person who reads lines from left to right comes to one stop before the other. */
function comesBefore({ lines: one }: Stop, { lines: other }: Stop): boolean {
  const [, top = 0, right = 0, bottom = 0] = one.at(-1) ?? [];
  const [left = 0, nextTop = 0, , nextBottom = 0] = other[0] ?? [];
  const isSameLine = nextTop < bottom && top < nextBottom;
  return isSameLine ? left >= right - 1 : nextTop >= bottom - 1;
}

/**
 * Holds that a person without a mouse can use a page: Tab and Shift+Tab lead around all of its fields, buttons and links,
 * in the order in which they are read (WCAG 2.2, 2.1.2, 2.4.3); what has the focus is marked and in view (2.4.7, 2.4.11,
 * 1.4.11); the focus begins at the page's first field, or at what went wrong, and the field at fault tells of it (3.3.1).
 *
 * @param isRefused Whether the page refuses what a person sent.
 * @param walked What others have gone around already: the same page with the same stops is not gone around again.
 * @param onStop Called while each stop has the focus.
 */
export async function expectUsableByKeys(
  page: Page,
  where: string,
  {
    name,
    isRefused,
    walked,
    onStop,
  }: {
    name: string;
    isRefused: boolean;
    walked: Set<string>;
    onStop: (name: string) => Promise<void>;
  },
): Promise<void> {
  const first = await see(page);
  const names = first.stops.map(({ name }) => name);
  const hold = (claim: string, is: unknown, shouldBe: unknown) =>
    expect([where, claim, is]).toEqual([where, claim, shouldBe]);

  const { fields, note, hasAutofocus } = first;
  const toFillIn = (fields.find(({ isEmpty }) => isEmpty) ?? fields[0])?.index;
  if (note !== 'none') {
    // A field to fill in again has the focus at once; the note describes it.
    const isAgain = fields.some(({ index, isExplained }) => index === first.focus && isExplained);
    hold('the focus begins at', [isAgain ? 'note' : first.focus, note], ['note', 'in view']);
  } else hold('the focus begins at', first.focus, hasAutofocus ? toFillIn : 'page');
  const silent = fields.filter(({ isWrong, isExplained }) => isWrong && !isExplained);
  hold('wrong fields that say nothing', silent, []);
  if (isRefused && fields.length > 0) {
    hold('the page says what is wrong', note, 'in view');
    hold(
      'no field does',
      fields.every(({ isExplained }) => !isExplained),
      false,
    );
  }

  const state = JSON.stringify([name, note, names]);
  if (walked.has(state)) return;
  walked.add(state);

  /** Holds that what has the focus can be seen to have it. */
  function expectToBeSeen({ focus, stops }: Sight, before: Sight): void {
    const { name: stop, ring, ground, isInView } = stops[Number(focus)] as Stop;
    const [style, width, color] = ring;
    hold(`"${stop}" is in view`, isInView, true);
    hold(`"${stop}" is marked`, [style, Number.parseFloat(width) >= 2], ['solid', true]);
    hold(`"${stop}" stands out`, contrast(hex(color), hex(ground)) >= 3, true);
    if (before.focus === focus) return;
    hold(`"${stop}" is marked by the focus alone`, before.stops[Number(focus)]?.ring[0], 'none');
  }

  let now: Sight;
  const press = async (key: string) => {
    await page.keyboard.press(key);
    now = await see(page);
  };
  async function pressTo(key: string, index: number): Promise<void> {
    const before = now;
    await press(key);
    const from = typeof before.focus === 'number' ? names[before.focus] : before.focus;
    hold(`${key} from "${from}" leads to`, now.focus, index);
    expectToBeSeen(now, before);
    await onStop(names[index] ?? '');
  }
  /** After the last stop the browser's own controls have their turn, unless it leads around at once. */
  async function expectToLeave(key: string, next: number): Promise<void> {
    await press(key);
    hold(`${key} leaves the last stop`, [next, 'page'].includes(now.focus as number), true);
  }
  function expectReadingOrder(): void {
    const jumps = now.stops.filter((stop, i) => {
      const after = now.stops[i + 1];
      return after && !comesBefore(stop, after);
    });
    hold(
      'not read before the next one',
      jumps.map((stop) => stop.name),
      [],
    );
  }

  const last = names.length - 1;
  await page.setViewportSize(wide);
  now = await see(page);
  expectReadingOrder();
  const start = typeof now.focus === 'number' ? now.focus : -1;
  if (start >= 0) expectToBeSeen(now, now);
  for (let index = start + 1; index <= last; index += 1) await pressTo('Tab', index);
  await expectToLeave('Tab', 0);
  if (last < 0) return;

  await page.setViewportSize(small);
  now = await see(page);
  expectReadingOrder();
  // The browser may have put the focus back into the page meanwhile, at either end.
  for (let presses = 0; now.focus !== last && presses < names.length + 4; presses += 1)
    await press('Shift+Tab');
  hold('Shift+Tab comes back to', now.focus, last);
  expectToBeSeen(now, now);
  for (let index = last - 1; index >= 0; index -= 1) await pressTo('Shift+Tab', index);
  await expectToLeave('Shift+Tab', last);
}
