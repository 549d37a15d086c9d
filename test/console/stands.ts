import { repeats } from "@svc/testing/sample";
import { until } from "@svc/testing/until";
import type { Page } from "playwright-core";

/** How far a page may jump while it loads, as browsers measure layout shifts; beside other work more of its parts come one by one. */
export const shiftMax = repeats({ sample: 0.04, whole: 0.02 });

/** How far what is in sight has jumped since the page began to load. */
export function shiftOf(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    let sum = 0;
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) sum += value;
    }).observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
  })`);
}

/** What can be pressed or leads on, and stands beyond the sides of the window. */
const beyond = `[...document.querySelectorAll("main :is(button, a, input, h1, h2), [role=dialog] :is(button, input, h2)")]
  .filter((e) => e.checkVisibility() && e.getBoundingClientRect().width > 1)
  .filter((e) => { const { left, right } = e.getBoundingClientRect(); return left < -1 || right > innerWidth + 1; })
  .map((e) => e.outerHTML.slice(0, 120))`;

/** What is cut off at 200 %, which leaves of a window of 1280 by 800 one of 640 by 400. */
export async function cutOffAtDouble(page: Page): Promise<string[]> {
  const size = page.viewportSize();
  await page.setViewportSize({ width: 640, height: 400 });
  // Rows become cards with the next frame.
  let found: string[] = [];
  const fits = async () => {
    found = await page.evaluate<string[]>(beyond);
    return found.length === 0 && (await page.evaluate<boolean>("document.documentElement.scrollWidth <= innerWidth"));
  };
  await until(fits, "it fits", 5_000).catch(() => undefined);
  if (size !== null) await page.setViewportSize(size);
  return found;
}
