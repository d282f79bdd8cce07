import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// `SCREENSHOTS=folder` keeps a picture of each page in each look.
const pictures = process.env['SCREENSHOTS'];

const schemes = ['light', 'dark'] as const;
const widths = [320, 1280] as const;

/** One way to look at a page. */
export interface Look {
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
}

/** Shows a page light and dark, narrow and wide. */
export async function eachWay(
  page: Page,
  look: (way: string, look: Look) => Promise<void>,
): Promise<void> {
  for (const colorScheme of schemes) {
    for (const width of widths) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await look(`${colorScheme}, ${width} px`, { colorScheme, width });
    }
  }
}

// A scheme changes colours and a width changes places, so two looks show axe both of each.
const isShownToAxe = ({ colorScheme, width }: Look) =>
  (colorScheme === 'light') === (width === 1280);

/**
 * Holds that axe's default rules find nothing, light and wide, dark and narrow, and that nothing is wider than the
 * page in any look.
 */
export async function expectAccessible(page: Page, name: string): Promise<void> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(source);
  await eachWay(page, async (way, look) => {
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect([name, way, overflow]).toEqual([name, way, 0]);
    if (isShownToAxe(look)) {
      const { violations } = await page.evaluate<AxeResults>(
        "axe.run({ resultTypes: ['violations'] })",
      );
      const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
      expect([name, way, found]).toEqual([name, way, []]);
    }
    if (pictures) {
      const path = join(
        pictures,
        `${name.replaceAll(/\W+/g, '-')}-${look.width}-${look.colorScheme}.png`,
      );
      await page.screenshot({ path, fullPage: true });
    }
  });
}
