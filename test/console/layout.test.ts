import { startTestReceiver } from "@svc/testing/receiver";
import type { TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { expect } from "vitest";
import { comesToRest } from "./at-rest.ts";
import { browserTest, startConsole } from "./browser.ts";
import { seedPeople, submitProgram } from "./jobs-seed.ts";
import { layoutFaults, titleLeft } from "./layout-faults.ts";
import { copyEvents } from "./many-events.ts";
import { postCalendar } from "./post-calendar.ts";

const longName = "Quarterly reconciliation of every outstanding invoice with the ledger of the head office ".padEnd(
  90,
  "x",
);
const arabic = "تذكير الفريق بالصفقات المفتوحة قبل نهاية الشهر";
const longPath = "/webhooks/of/a/customer/with/a/very/long/name/acme-industries-international/calendar";

let ids: Record<string, string> = {};
const consoles = startConsole({
  isOnePage: true,
  seed: async (svc) => {
    ids = await seedHostile(svc);
  },
});

/** Fills a project with data that is hard to lay out: an address of 75 letters and more, long names, Arabic, and 14 attempts. */
async function seedHostile(svc: TestServer): Promise<Record<string, string>> {
  await using bad = await startTestReceiver();
  bad.script({ status: 500, headers: { "retry-after": "600" }, body: `${"no space here".repeat(40)}\n` });
  const { subscription } = (
    await svc.call("svc.v1.TriggersService/CreateSubscription", {
      endpointUrl: bad.url.replace("/hook", longPath),
      description: arabic,
    })
  ).json;
  await postCalendar(svc);
  const deliveries = async () =>
    (await svc.call("svc.v1.TriggersService/ListDeliveries", { subscriptionId: subscription.id })).json.deliveries ??
    [];
  await until(async () => (await deliveries()).some(({ attempts }: { attempts: number }) => attempts > 0));
  await svc.database.db.sql`update deliveries set attempts = 14, attempt_log =
    (select jsonb_agg(one) from (select deliveries.attempt_log -> 0 as one from generate_series(1, 14)) attempts)`;
  await seedPeople(svc);
  await svc.call("svc.v1.ContactsService/PutContact", { contact: { principalId: "long", name: longName } });
  await svc.call("svc.v1.ContactsService/PutContact", { contact: { principalId: "arabic", name: arabic } });
  const steps = [
    {
      id: `a_step_whose_name_is_as_long_as_a_name_may_be`,
      call: "sales_crm.list_deals",
      entity: "ops",
      args: { limit: 2 },
    },
    { id: "short", call: "messaging_bot.get_me", entity: "ops" },
  ];
  const job = await submitProgram(svc, { version: 1, title: longName, steps });
  await submitProgram(svc, { version: 1, title: arabic, steps });
  await svc.call("svc.v1.TriggersService/PutEventType", {
    name: `orders.${"very_long_".repeat(5)}name`,
    description: longName,
  });
  const [first] = await deliveries();
  await copyEvents(svc, { count: 60, everyMs: 1_000, endMs: 60_000 });
  return { job, delivery: first.id, event: first.eventId, subscription: subscription.id };
}

const paths: readonly ((id: Record<string, string>) => string)[] = [
  () => "home",
  () => "events",
  ({ event }) => `events/${event}`,
  ({ event }) => `events?open=${event}`,
  () => "deliveries",
  ({ delivery }) => `deliveries/${delivery}`,
  () => "subscriptions",
  ({ subscription }) => `subscriptions/${subscription}`,
  () => "subscriptions/new",
  () => "event-types",
  () => "replays",
  () => "ingest",
  () => "quarantine",
  () => "asks",
  () => "jobs",
  ({ job }) => `jobs/${job}`,
  ({ job }) => `jobs/${job}?tab=graph`,
  ({ job }) => `jobs/${job}?tab=log`,
  () => "programs/new",
  () => "schedules",
  () => "schedules/new",
  () => "skills",
  () => "contacts",
  () => "tools",
  () => "toolkits",
  () => "accounts",
  () => "calls",
  () => "settings",
  () => "settings?tab=agents",
  () => "settings?tab=portal",
  ({ subscription }) => `subscriptions/${subscription}?tab=deliveries`,
  ({ subscription }) => `subscriptions/${subscription}?tab=settings`,
  ({ job }) => `jobs/${job}?step=short`,
  ({ job }) => `jobs/${job}?tab=result`,
];

browserTest.each([1_440, 1_024, 390])("no page cuts off what cannot be read elsewhere, at %i pixels", async (width) => {
  const { page } = await consoles.open();
  await page.setViewportSize({ width, height: 900 });
  const [faults, lefts] = [[] as string[], new Map<number, string>()];
  for (const path of paths) {
    const at = path(ids);
    await page.goto(`${consoles.svc.url}/console/p/${consoles.projectId}/${at}`);
    await comesToRest(page);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const fault of await layoutFaults(page)) faults.push(`${at}, ${colorScheme}: ${fault}`);
    }
    lefts.set(Math.round(await titleLeft(page)), at);
  }
  expect(faults).toEqual([]);
  // Titles begin at one place, so that nothing jumps from page to page.
  expect([...lefts.keys()], [...lefts.values()].join(", ")).toHaveLength(1);
});

browserTest("a printed page has its whole list, its address and the time, and no navigation", async () => {
  const { page } = await consoles.open({ path: `p/${consoles.projectId}/events` });
  const rows = page.getByRole("row", { name: "calendar.events_changed" });
  await rows.first().waitFor();
  const loaded = Number(/Showing (\d+)/.exec((await page.getByText(/^Showing \d/).textContent()) ?? "")?.[1]);
  // The window is too low for all rows, so the screen has some of them alone.
  expect(await rows.count()).toBeLessThan(loaded);
  await page.emulateMedia({ media: "print" });
  await until(async () => (await rows.count()) === loaded);
  expect(await page.getByRole("navigation", { name: "Pages" }).isVisible()).toBe(false);
  expect(await page.locator("search").isVisible()).toBe(false);
  expect((await page.locator("main footer").textContent()) ?? "").toMatch(/\/events · \d{4}-\d\d-\d\d \d\d:\d\d:\d\d /);
  const scrolls = `[...document.querySelectorAll("body *")].filter((e) => e.checkVisibility() && e.scrollHeight > e.clientHeight + 1 &&
    ["auto", "scroll", "hidden"].includes(getComputedStyle(e).overflowY) && e.clientHeight > 60).map((e) => e.outerHTML.slice(0, 100))`;
  expect(await page.evaluate<string[]>(scrolls)).toEqual([]);
  await page.emulateMedia({ media: null });
});
