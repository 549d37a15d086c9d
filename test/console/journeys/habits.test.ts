import { until } from "@svc/testing/until";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { browserTest, startConsole } from "../browser.ts";
import { postCalendar } from "../post-calendar.ts";

// Behaviour that users can count on at every page of the console.
const consoles = startConsole({
  variables: { SVC_HOSTS: "console.test" },
  seed: async (svc) => {
    for (let n = 0; n < 2; n += 1) await postCalendar(svc);
    const account = { toolkitSlug: "messaging_bot", entityId: "ada", scheme: "api_key", apiKey: "k" };
    await svc.call("svc.v1.ConnectionsService/InitiateConnection", account);
  },
});
const path = (page: string) => `p/${consoles.projectId}/${page}`;
const rows = (page: Page) => page.getByRole("row", { name: "calendar.events_changed" });
const focusRow = async (page: Page) => {
  await rows(page).first().waitFor();
  await rows(page).first().focus();
};
const newestId = async (): Promise<string> =>
  (await consoles.svc.call("svc.v1.TriggersService/ListEvents", {})).json.events[0].id;

/** Returns the copied text, by pasting it into a field that sends nothing. */
async function pasted(page: Page): Promise<string> {
  await page.keyboard.press("ControlOrMeta+k");
  const input = page.getByRole("dialog").getByRole("combobox");
  await input.waitFor();
  await page.keyboard.press("ControlOrMeta+v");
  const text = await input.inputValue();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  return text;
}

browserTest("keys of a list copy, open beside it, close, filter, help and lead elsewhere", async () => {
  const { page } = await consoles.open({ path: path("events") });
  const { keyboard } = page;
  await focusRow(page);
  await keyboard.press("c");
  await page.getByRole("status").getByText("Copied id.").waitFor();
  expect(await pasted(page)).toBe(await newestId());
  await focusRow(page);
  await keyboard.press("o");
  await page.getByRole("region", { name: "Payload" }).waitFor();
  await keyboard.press("Escape");
  await page.getByRole("region", { name: "Payload" }).waitFor({ state: "detached" });
  await keyboard.press("/");
  await page.locator("search :focus").waitFor();
  await focusRow(page);
  await keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await focusRow(page);
  await keyboard.press("g");
  await keyboard.press("d");
  await page.locator("h1:focus", { hasText: "Deliveries" }).waitFor();
});

browserTest(
  "the palette finds resources by the end of their ids, and cancels a search that is not needed any more",
  async () => {
    const { page } = await consoles.open({ path: path("settings") });
    const id = await newestId();
    const held = Promise.withResolvers<void>();
    await page.route("**/Search", async (route) => {
      if (route.request().postData()?.includes("first") !== true) return route.continue();
      await held.promise;
      return route.abort();
    });
    await page.keyboard.press("ControlOrMeta+k");
    const input = page.getByRole("dialog").getByRole("combobox");
    const first = page.waitForRequest("**/Search");
    await input.fill("first");
    // The entries of the console itself do not wait for the service.
    await page.getByRole("option", { name: "Tools for “first”" }).waitFor();
    await first;
    const cancelled = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/Search"));
    await input.fill(id.slice(-6));
    expect((await cancelled).failure()?.errorText).toBe("net::ERR_ABORTED");
    held.resolve();
    await page.getByRole("group", { name: "Events" }).getByRole("option", { name: "calendar.events_changed" }).click();
    await page.waitForURL(new RegExp(`/events/${id}$`));
    await page.locator("h1:focus", { hasText: "calendar.events_changed" }).waitFor();
  },
);

browserTest("the heading keeps the focus when data that arrives later draws the page anew", async () => {
  const { page } = await consoles.open({ path: path("events") });
  await rows(page).first().waitFor();
  const answers = Promise.withResolvers<void>();
  await page.route("**/ListSubscriptions", async (route) => {
    await answers.promise;
    await route.continue();
  });
  for (const key of ["g", "d"]) await page.keyboard.press(key);
  await page.locator("h1:focus", { hasText: "Deliveries" }).waitFor();
  answers.resolve();
  await page.getByText("No subscriptions yet").waitFor();
  await page.locator("h1:focus", { hasText: "Deliveries" }).waitFor();
});

browserTest("a menu that is loaded late does not open over a field that has the focus", async () => {
  const { page } = await consoles.open({ path: path("events") });
  const button = page.getByRole("button", { name: "Project default" });
  const user = page.getByLabel("User");
  const answers = Promise.withResolvers<void>();
  await page.route("**/parts-*.js", async (route) => {
    await answers.promise;
    await route.continue();
  });
  await page.reload();
  await button.click();
  await user.click();
  const loaded = page.waitForEvent("requestfinished", (request) => request.url().includes("/parts-"));
  answers.resolve();
  await loaded;
  // The button of the loaded menu takes the place of the first one.
  await until(async () => (await button.getAttribute("id")) !== null);
  await page.keyboard.type("ada");
  expect(await user.inputValue()).toBe("ada");
  expect(await page.getByRole("menu").count()).toBe(0);
});

browserTest("a panel, a menu and a dialog that cannot be loaded say so, and are loaded again", async () => {
  const { page, faults } = await consoles.open({ path: path("events") });
  faults.expectStatus(0);
  const failed = page.getByRole("alert").filter({ hasText: "This part of the page could not be loaded." });
  const [panel, parts] = ["**/event-panel-*.js", "**/parts-*.js"];
  for (const file of [panel, parts]) await page.route(file, (route) => route.abort("failed"));
  await page.reload();
  await focusRow(page);
  await page.keyboard.press("o");
  await failed.waitFor();
  await page.unroute(panel);
  await failed.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("region", { name: "Payload" }).waitFor();
  expect(await failed.count()).toBe(0);
  await page.getByRole("button", { name: "Project default" }).click();
  await page.getByRole("status").getByText("The menu could not be loaded. Press the button again.").waitFor();
  await focusRow(page);
  await page.keyboard.press("?");
  await failed.waitFor();
  await page.unroute(parts);
  // The console loads the file again by itself.
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  expect(await failed.count()).toBe(0);
});

browserTest("shortcuts work on the whole page, not only inside a list, and no letter of a field is one", async () => {
  const { page } = await consoles.open({ path: path("settings") });
  await page.getByRole("heading", { name: "Settings", level: 1 }).click();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  // A letter pressed in an open dialog must not open another page.
  for (const key of ["g", "e"]) await page.keyboard.press(key);
  expect(page.url()).toContain("/settings");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  for (const key of ["g", "e"]) await page.keyboard.press(key);
  await page.getByRole("heading", { name: "Events", level: 1 }).waitFor();
  await page.keyboard.press("/");
  await page.locator("search :focus").waitFor();
});

browserTest("a page that is opened while the service cannot be reached comes by itself when it can", async () => {
  const { page, faults } = await consoles.open({ path: path("events") });
  await rows(page).first().waitFor();
  faults.expectStatus(0);
  await page.context().setOffline(true);
  await page.getByRole("navigation").getByRole("link", { name: "Saved tools" }).click();
  await page.getByRole("heading", { name: "This page failed" }).waitFor();
  await page.getByText(/Retrying\. Data/).waitFor();
  await page.context().setOffline(false);
  await page.getByRole("heading", { name: "Saved tools", level: 1 }).waitFor();
  // The browser reports that the page's file did not load.
  expect(
    faults.seen
      .splice(0)
      .filter((seen) => !/dynamically imported module|Failed to fetch|so this page did not load/.test(seen)),
  ).toEqual([]);
});

browserTest("single letters can be turned off; arrows go on, and what was typed elsewhere never counted", async () => {
  const { page } = await consoles.open({ path: path("events") });
  const { keyboard } = page;
  await page.getByLabel("Search payload").press("?");
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.getByRole("button", { name: "Clear filters" }).first().click();
  await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
  await page.getByRole("checkbox", { name: "Single-key" }).uncheck();
  await keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await focusRow(page);
  const address = page.url();
  for (const key of ["c", "o", "j", "?", "/", "g", "d"]) await keyboard.press(key);
  await rows(page).first().and(page.locator(":focus")).waitFor();
  expect([page.url(), await page.getByRole("dialog").count()]).toEqual([address, 0]);
  await keyboard.press("ArrowDown");
  await rows(page).nth(1).and(page.locator(":focus")).waitFor();
});

browserTest("a list has the filters that a person chose on it, and times say both and in which zone", async () => {
  const { page } = await consoles.open({ path: path("events?toolkit=calendar") });
  await rows(page).first().waitFor();
  const time = rows(page).first().locator("time");
  expect(await time.getAttribute("title")).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [A-Z]\S*, (?:now|\d+ (?:s|min) ago)$/,
  );
  const nav = (name: RegExp) => page.getByRole("navigation").getByRole("link", { name }).first().click();
  await nav(/^Deliveries/);
  await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor();
  // A link opened the list with a filter, but the navigation opens the whole list.
  await nav(/^Events$/);
  await page.waitForURL(/\/events$/);
  await page.getByRole("combobox", { name: "App: any" }).click();
  await page.getByRole("option", { name: "calendar" }).click();
  await page.waitForURL(/\/events\?toolkit=calendar$/);
  await nav(/^Deliveries/);
  await page.getByRole("heading", { name: "Deliveries", level: 1 }).waitFor();
  await nav(/^Events\b.*filtered/);
  await page.waitForURL(/\/events\?toolkit=calendar$/);
  await page.keyboard.press("ControlOrMeta+k");
  await page.keyboard.type("Times in UTC");
  await page.keyboard.press("Enter");
  await expect.poll(() => time.getAttribute("title")).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, /);
});

browserTest("nothing moves longer than 80 ms, and nothing at all for whoever wants it so", async () => {
  const { page } = await consoles.open({ path: path("events") });
  const longest = (): Promise<number> =>
    page.evaluate(`Math.max(...[...document.querySelectorAll("*")].flatMap((e) =>
      getComputedStyle(e).transitionDuration.split(",").map(Number.parseFloat)))`);
  expect(await longest()).toBe(0);
  await page.emulateMedia({ reducedMotion: "no-preference" });
  expect(await longest()).toBe(0.08);
  await page.emulateMedia({ reducedMotion: "reduce" });
});

browserTest("off this machine and without https a band says so, ids are copied, and calls are made", async () => {
  const { page, faults } = await consoles.open({ key: null });
  const elsewhere = `http://console.test:${new URL(consoles.svc.url).port}`;
  faults.expectOrigin(elsewhere);
  await page.goto(`${elsewhere}/console/${path(`events/${await newestId()}`)}`);
  await page.getByLabel("API key").fill(consoles.svc.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("Not https: others on the network can read this session.").waitFor();
  expect(await page.evaluate("[typeof navigator.clipboard, typeof crypto.randomUUID]")).toEqual([
    "undefined",
    "undefined",
  ]);
  await page.getByRole("button", { name: "Copy id" }).click();
  await page.getByRole("status").getByText("Copied id.").waitFor();
  expect(await pasted(page)).toBe(await newestId());
  await page.goto(`${elsewhere}/console/${path("tools/messaging_bot.send_message")}`);
  // The only entity with an account is chosen once the accounts are read.
  await page.getByLabel("as user").and(page.locator("[value=ada]")).waitFor();
  await page.getByLabel("chat_id", { exact: true }).fill("4711");
  await page.getByLabel("text", { exact: true }).fill("From elsewhere");
  await page.getByRole("button", { name: "Send in the sandbox", disabled: false }).click();
  await page.getByRole("region", { name: "Result", exact: true }).getByText("OK", { exact: true }).waitFor();
  // Browsers report this for every page that is not https.
  const isOfHttp = (line: string) => line.includes("Cross-Origin-Opener-Policy header has been ignored");
  faults.seen.splice(0, faults.seen.length, ...faults.seen.filter((line) => !isOfHttp(line)));
});
