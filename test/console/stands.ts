import { repeats } from "@svc/testing/sample";
import { until } from "@svc/testing/until";
import type { Page } from "playwright-core";

/**
 * Largest layout shift, as browsers measure it, that a page may have while it loads. It is larger in a sample, where other work makes the
 * parts of a page arrive one by one.
 */
export const shiftMax = repeats({ sample: 0.04, whole: 0.02 });

/** Returns the layout shift of a page since it began to load. */
export function shiftOf(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    let sum = 0;
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) sum += value;
    }).observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
  })`);
}

/**
 * Script that lists buttons, links, fields and headings which extend beyond the sides of the window. Parts of a canvas that the user moves
 * are left out.
 */
const beyond = `[...document.querySelectorAll("main :is(button, a, input, h1, h2), [role=dialog] :is(button, input, h2)")]
  .filter((e) => e.closest("[data-canvas]") === null && e.checkVisibility() && e.getBoundingClientRect().width > 1)
  .filter((e) => { const { left, right } = e.getBoundingClientRect(); return left < -1 || right > innerWidth + 1; })
  .map((e) => e.outerHTML.slice(0, 120))`;

/** Lists the elements that are cut off at a zoom of 200 %, at which a window of 1280 by 800 shows 640 by 400. */
export async function cutOffAtDouble(page: Page): Promise<string[]> {
  const size = page.viewportSize();
  await page.setViewportSize({ width: 640, height: 400 });
  // The rows turn into cards only in the next frame.
  let found: string[] = [];
  const fits = async () => {
    found = await page.evaluate<string[]>(beyond);
    return found.length === 0 && (await page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth"));
  };
  await until(fits, "it fits", 5_000).catch(() => undefined);
  if (size !== null) await page.setViewportSize(size);
  return found;
}
