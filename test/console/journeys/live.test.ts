import { startTestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import { expect } from "vitest";
import { browserTest, startConsole } from "../browser.ts";
import { copyEvents } from "../many-events.ts";
import { postCalendar } from "../post-calendar.ts";

const consoles = startConsole();
const opened = () => consoles.open({ path: `p/${consoles.projectId}/events` });

/** Requests of a page that read the list of events. */
function watchReads(page: Awaited<ReturnType<typeof opened>>["page"]): { count: () => number; streams: () => number } {
  const urls: string[] = [];
  page.on("request", (request) => urls.push(request.url()));
  const of = (method: string) => urls.filter((url) => url.endsWith(method)).length;
  return { count: () => of("/ListEvents"), streams: () => of("/WatchProject") };
}

browserTest(
  "an event that is posted is in the live list within two seconds, which waits behind a button while the list is scrolled down",
  async () => {
    for (let n = 0; n < 60; n += 1) await postCalendar(consoles.svc);
    const { page } = await opened();
    const rows = page.getByRole("row", { name: "calendar.events_changed" });
    await rows.first().waitFor();
    const stream = page.waitForResponse((response) => response.url().endsWith("/WatchProject"));
    await page.reload();
    await stream;
    await rows.first().waitFor();
    const grid = page.getByRole("grid", { name: "Events" });
    const before = await grid.getAttribute("aria-rowcount");
    await postCalendar(consoles.svc);
    await expect.poll(() => grid.getAttribute("aria-rowcount"), { timeout: 2_000, interval: 50 }).not.toBe(before);

    await page.keyboard.press("Tab");
    await rows.first().focus();
    await page.keyboard.press("End");
    const last = rows.last();
    await last.waitFor();
    const place = await last.boundingBox();
    await postCalendar(consoles.svc);
    await page.getByRole("button", { name: "1 new" }).waitFor();
    expect(await last.boundingBox()).toEqual(place);
  },
);

browserTest("a tab that is hidden keeps no stream, and is told what it missed when it is shown", async () => {
  const { page } = await opened();
  const reads = watchReads(page);
  const hide = (state: string) =>
    page.evaluate(`
      Object.defineProperty(document, "visibilityState", { value: "${state}", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    `);
  const closed = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/WatchProject"));
  const stream = page.waitForResponse((response) => response.url().endsWith("/WatchProject"));
  await page.reload();
  await stream;
  await hide("hidden");
  await closed;
  const grid = page.getByRole("grid", { name: "Events" });
  const before = await grid.getAttribute("aria-rowcount");
  await postCalendar(consoles.svc);
  await hide("visible");
  await expect.poll(() => grid.getAttribute("aria-rowcount"), { timeout: 5_000, interval: 50 }).not.toBe(before);
  await expect.poll(() => reads.streams(), { timeout: 5_000 }).toBeGreaterThan(1);
});

browserTest(
  "with eight windows on job pages in sight, which is harder than hidden tabs, the ninth loads, and every one goes on",
  async () => {
    const program = { version: 1, title: "Wait an hour", steps: [{ id: "rest", wait: "1h" }] };
    const { json } = await consoles.svc.call("svc.v1.JobsService/SubmitJob", { programJson: JSON.stringify(program) });
    const jobId: string = json.job.id;
    const first = await opened();
    const context = first.page.context();
    const open = (page: string) => consoles.open({ path: `p/${consoles.projectId}/${page}`, context });
    await first.page.goto("about:blank");
    const ofJob = await Promise.all(Array.from({ length: 8 }, () => open(`jobs/${jobId}`)));
    for (const { page } of ofJob) await page.getByText("rest", { exact: true }).first().waitFor();
    const { page: ninth } = await open("events");
    const grid = ninth.getByRole("grid", { name: "Events" });
    await grid.getByRole("row", { name: "calendar.events_changed" }).first().waitFor();
    // Calls of the ninth and of all others are answered.
    await ninth.getByRole("row", { name: "calendar.events_changed" }).first().click();
    await ninth.getByRole("region", { name: "Deliveries" }).getByText("it was delivered to nobody").waitFor();
    for (const { page } of ofJob) {
      await page.getByRole("tab", { name: "Program" }).click();
      await page.getByRole("tab", { name: "Log" }).click();
    }
    const before = await grid.getAttribute("aria-rowcount");
    await postCalendar(consoles.svc);
    await consoles.svc.call("svc.v1.JobsService/CancelJob", { id: jobId });
    await expect.poll(() => grid.getAttribute("aria-rowcount"), { timeout: 15_000, interval: 100 }).not.toBe(before);
    // The log of each, to its last entry.
    for (const { page } of ofJob) await page.getByText("ended", { exact: true }).waitFor();
  },
);

browserTest("how deliveries stand is told of rows far below the newest page, too, while they are in view", async () => {
  await using receiver = await startTestReceiver();
  await consoles.svc.call("svc.v1.TriggersService/CreateSubscription", { endpointUrl: receiver.url });
  await postCalendar(consoles.svc);
  await until(async () => {
    const { events } = (await consoles.svc.call("svc.v1.TriggersService/ListEvents", { pageSize: 1 })).json;
    const { deliveries } = (await consoles.svc.call("svc.v1.TriggersService/ListDeliveries", { eventId: events[0].id }))
      .json;
    return deliveries[0]?.state === "delivered";
  });
  await copyEvents(consoles.svc, { count: 400, everyMs: 1_000, endMs: 600_000 });
  const { events } = (await consoles.svc.call("svc.v1.TriggersService/ListEvents", { pageSize: 500 })).json;
  const { page } = await opened();
  const rows = page.getByRole("row", { name: "calendar.events_changed" });
  await rows.first().focus();
  const oldest = page.locator(`[role=row][aria-rowindex="${events.length + 1}"]:focus`);
  await until(async () => {
    await page.keyboard.press("End");
    // Whatever comes in and goes out meanwhile, a row has the focus: a key that found the page instead would be lost.
    expect(await page.evaluate("document.activeElement?.role")).toBe("row");
    return (await oldest.count()) > 0;
  });
  await oldest.getByText("1 delivered").waitFor();
  await consoles.svc.call("svc.v1.TriggersService/ReplayEvent", { eventId: events.at(-1).id });
  await oldest.getByText("2 delivered").waitFor();
});
