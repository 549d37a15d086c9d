import { until } from "@svc/testing/until";
import type { Page } from "playwright-core";

/** Script that resolves when nothing on the page has changed for half a second, after at most five seconds. */
const isQuiet = `new Promise((resolve) => {
  let timer = setTimeout(resolve, 500);
  new MutationObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(resolve, 500);
  }).observe(document.body, { subtree: true, childList: true, attributes: true });
  setTimeout(resolve, 5_000);
})`;

/** Waits until a page has its title and its data, and nothing on it changes. Charts and strips are loaded after the rest. */
export async function comesToRest(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  await until(async () => (await page.locator("main [aria-busy=true]").count()) === 0);
  await until(async () => (await page.getByText("Loading", { exact: true }).count()) === 0);
  await page.evaluate(isQuiet);
}
