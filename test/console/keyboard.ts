import type { Locator, Page } from "playwright-core";

/** Actions of a user who has only a keyboard. */
export type Keyboard = {
  press(...keys: string[]): Promise<void>;
  type(text: string): Promise<void>;
  /** Presses Tab until this element, which it waits for, has the focus. Throws if a full round of the page does not reach the element. */
  tabTo(target: Locator): Promise<void>;
  /** Opens a page by the command palette and waits until the page's heading has the focus. */
  goTo(title: string): Promise<void>;
};

/** Number of Tab stops that no page reaches. */
const stopsMax = 80;

/** Returns the keyboard actions of a page. */
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
      await page.getByRole("combobox", { name: "Search or go to a page" }).waitFor();
      await type(title);
      await press("Enter");
      await page.locator("h1:focus", { hasText: title }).waitFor();
    },
  };
}
