import type { Locator, Page } from "playwright-core";

/** What somebody does who has no pointer. */
export type Keyboard = {
  press(...keys: string[]): Promise<void>;
  type(text: string): Promise<void>;
  /** Goes on with Tab until this, which it waits for, has the focus. Throws where a round of the page does not lead there. */
  tabTo(target: Locator): Promise<void>;
  /** Goes to a page by the palette, and waits until its heading has the focus. */
  goTo(title: string): Promise<void>;
};

/** As many stops as no page has. */
const stopsMax = 80;

/** The keyboard of a page, and nothing else of it. */
export function keyboardOf(page: Page): Keyboard {
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const type = (text: string) => page.keyboard.type(text);
  return {
    press,
    type,
    async tabTo(target) {
      await target.first().waitFor();
      const focused = target.and(page.locator(":focus"));
      for (let stops = 0; (await focused.count()) === 0; stops += 1) {
        if (stops === stopsMax) throw new Error(`${stopsMax} times Tab do not lead to ${target}`);
        await press("Tab");
      }
    },
    async goTo(title) {
      await press("Control+k");
      await type(title);
      await press("Enter");
      await page.locator("h1:focus", { hasText: title }).waitFor();
    },
  };
}
