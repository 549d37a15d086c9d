import { startTestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { findBarriers } from "../axe.ts";
import { browserTest, startConsole } from "../browser.ts";
import { copyEvents } from "../many-events.ts";
import { postCalendar } from "../post-calendar.ts";

const hourMs = 3_600_000;

const consoles = startConsole({
  seed: async (svc) => {
    await using receiver = await startTestReceiver();
    await svc.call("svc.v1.TriggersService/CreateSubscription", { endpointUrl: receiver.url });
    await postCalendar(svc);
    const list = async () => (await svc.call("svc.v1.TriggersService/ListDeliveries", { states: ["delivered"] })).json;
    await until(async () => (await list()).deliveries?.length === 1, "the event is delivered");
    await copyEvents(svc, { count: 120, everyMs: 10_000, endMs: 2 * hourMs });
    await svc.database.db.sql`
      with project as (select project_id from events limit 1)
      insert into activity_minutes (project_id, series, subject, at, outcome, count)
      select project_id, 'deliveries', '', date_trunc('hour', now()) - n * interval '1 hour', outcome, count
      from project, (values (3, 'delivered', 40), (3, 'dead_letter', 4), (5, 'retried', 7)) as counted (n, outcome, count)
      on conflict do nothing`;
  },
});
const path = (page: string) => `p/${consoles.projectId}/${page}`;
const tab = (page: Page, name: string | RegExp) =>
  page.getByRole("navigation", { name: "State" }).getByRole("link", { name });
const bars = (page: Page) => page.getByRole("slider", { name: "Delivery attempts over time" });

/** Checks that a page has no accessibility problem and no text outside the window, in three sizes. */
async function judge(page: Page): Promise<void> {
  for (const [width, height] of [
    [1440, 900],
    [1024, 768],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height });
    expect(await findBarriers(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

browserTest("each tab of a list shows its number of rows, up to 99, also for a new row", async () => {
  const { page } = await consoles.open({ path: path("deliveries") });
  for (const name of ["All 99+", "Needs attention 0", "Retrying 0", "Failed 0", "Delivered 99+"])
    await tab(page, name).waitFor();
  expect(await tab(page, "All 99+").getAttribute("aria-current")).toBe("page");
  await judge(page);
  await consoles.svc.database.db.sql`
    update deliveries set state = 'dead_letter', last_error = 'http_410' where id = (select id from deliveries limit 1)`;
  await tab(page, "Failed 1").waitFor();
  await tab(page, "Failed").click();
  const rows = page.getByRole("row", { name: "calendar.events_changed" });
  await until(async () => (await rows.count()) === 1, "the one failed delivery is listed");
  expect(await tab(page, "Failed 1").getAttribute("aria-current")).toBe("page");
  expect(await tab(page, "All").getAttribute("aria-current")).toBeNull();
  // The other filters hold for the numbers of the tabs.
  await page.goto(`${page.url().split("?")[0]}?range=1h`);
  await tab(page, "Failed 0").waitFor();
});

browserTest("bars count over time by outcome, follow the tab, and set the time of the list", async () => {
  const { page } = await consoles.open({ path: path("deliveries") });
  await page
    .getByText(/Delivery attempts, last 24 hours: delivered 4\d, failed and tried again 7, failed for good 4\./)
    .waitFor();
  await judge(page);
  await tab(page, "Retrying").click();
  await page.getByText("Delivery attempts, last 24 hours: failed and tried again 7.").waitFor();
  await page.goto(`${page.url().split("?")[0]}?answer=500`);
  await page.getByText("The bars do not follow the filter by answer.").waitFor();

  // By keyboard: three bars, the newest first.
  await page.goto(page.url().split("?")[0] ?? "");
  await bars(page).focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Shift+ArrowLeft");
  await page.keyboard.press("Shift+ArrowLeft");
  await page.keyboard.press("Enter");
  await page.waitForURL(/since=[^&]+$/);
  const since = new URL(page.url()).searchParams.get("since") ?? "";
  expect(Date.now() - Date.parse(since)).toBeLessThan(hourMs);
  await page.getByRole("button", { name: "Clear filters" }).first().click();

  // By pointer: a drag over the middle of the day.
  await page.getByText(/failed for good 4\./).waitFor();
  const box = await bars(page).boundingBox();
  if (box === null) throw new Error("the bars have no place on the page");
  await page.mouse.move(box.x + box.width / 2, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2, box.y + 20, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/since=/);
  const dragged = Date.parse(new URL(page.url()).searchParams.get("since") ?? "");
  expect(Math.abs(Date.now() - 12 * hourMs - dragged)).toBeLessThan(hourMs / 2);
});

browserTest("a filter is saved with its range, found by Ctrl K, renamed and deleted", async () => {
  const { page } = await consoles.open({ path: path("deliveries?state=dead_letter&range=7d") });
  await page.getByRole("button", { name: "Save filter" }).click();
  const dialog = page.getByRole("dialog", { name: "Save this filter" });
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText("Enter a name.").waitFor();
  await dialog.getByLabel("Name").fill("Given up");
  await page.keyboard.press("Enter");
  const menu = page.getByRole("button", { name: "Saved filter: Given up" });
  await menu.waitFor();
  expect(await page.getByRole("button", { name: "Save filter" }).count()).toBe(0);
  await judge(page);

  await page.goto(page.url().replace(/deliveries.*/, "events"));
  await page.getByRole("heading", { name: "Events", level: 1 }).waitFor();
  expect(await page.getByRole("button", { name: /Saved filter/ }).count()).toBe(0);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or go to a page" }).fill("given");
  await page.getByRole("option", { name: "Deliveries: Given up" }).click();
  await page.waitForURL(/deliveries\?(?=.*state=dead_letter).*range=7d/);

  await menu.click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("dialog", { name: "Rename Given up" }).getByLabel("Name").fill("Lost for good");
  await page.keyboard.press("Enter");
  const renamed = page.getByRole("button", { name: "Saved filter: Lost for good" });
  await renamed.waitFor();
  await page.reload();
  await tab(page, "All").click();
  await page.getByRole("button", { name: "Saved filters" }).click();
  await page.getByRole("menuitemradio", { name: "Lost for good" }).click();
  await page.waitForURL(/state=dead_letter/);
  await renamed.click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await renamed.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Save filter" }).waitFor();
});
