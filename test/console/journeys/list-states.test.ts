import { isDeepStrictEqual } from "node:util";
import { createTestDatabase } from "@svc/testing/database";
import { startForwarder } from "@svc/testing/forwarder";
import { startTestReceiver } from "@svc/testing/receiver";
import { until } from "@svc/testing/until";
import type { Locator, Page, Route } from "playwright-core";
import { afterAll, afterEach, expect } from "vitest";
import { browserTest, type ConsolePage, startConsole } from "../browser.ts";
import { cronHalfADayAway, jobWithStatus, submitProgram } from "../jobs-seed.ts";
import { calendarSecret, postCalendar } from "../post-calendar.ts";

// On every page, an empty list, a loading one, a failed one and one whose filter matches nothing look different. Each page below names its
// texts for them. The store is reached through a forwarder: holding it keeps a list loading, and closing it makes the list fail.
const database = await createTestDatabase();
const store = await startForwarder(database.url);
const variables = { SVC_DATABASE_URL: store.url, SVC_WEBHOOK_SECRET_CALENDAR: calendarSecret };
const consoles = startConsole({ variables });
afterAll(async () => {
  await store.close();
  await database.drop();
});

// The next test finds the store again, whatever failed in this one.
afterEach(async () => {
  store.release();
  await store.reopen();
});

type ListedPage = {
  /** The page's path below that of the project, or a path of the administration. */
  path: string;
  /** Headings shown in the page's lists while they are empty. None if a list always has rows. */
  empty?: readonly string[];
  /** A search in the address that matches nothing, and the heading that the page then shows. */
  filtered?: readonly [search: string, heading: string];
  /** True if the service answers this page without its store, so that the page neither waits nor fails here. */
  isOfMemory?: boolean;
};

const pages: readonly ListedPage[] = [
  { path: "events", empty: ["No events yet"], filtered: ["?toolkit=calendar", "No event matches"] },
  { path: "deliveries", empty: ["No subscriptions yet"], filtered: ["?state=dead_letter", "No delivery matches"] },
  { path: "subscriptions", empty: ["No subscriptions yet"] },
  { path: "replays", empty: ["Nothing resent yet"] },
  { path: "ingest", isOfMemory: true },
  { path: "quarantine", empty: ["Quarantine is empty"], filtered: ["?toolkit=calendar", "No post matches"] },
  { path: "tools", filtered: ["?q=zzzz", "No tool matches"], isOfMemory: true },
  { path: "accounts", empty: ["No accounts yet"], filtered: ["?entity=nobody", "No account matches"] },
  { path: "calls", empty: ["No calls yet"], filtered: ["?tool=calendar.list_events", "No call matches"] },
  { path: "jobs", empty: ["No jobs yet"], filtered: ["?title=none", "No job matches"] },
  { path: "asks", empty: ["No questions are waiting"], filtered: ["?of=nobody", "No ask matches"] },
  { path: "asks?show=settled", empty: ["Nothing was answered yet"], filtered: ["&of=nobody", "No ask matches"] },
  { path: "contacts" },
  { path: "contacts?tab=endpoints", empty: ["No question endpoints yet"] },
  { path: "skills", empty: ["No saved tools yet"] },
  { path: "schedules", empty: ["No schedules yet"], filtered: ["?state=active", "No schedule matches"] },
  { path: "settings" },
  { path: "settings?tab=agents", empty: ["No agent connected yet"] },
  { path: "settings?tab=secrets", empty: ["No secrets yet"] },
  { path: "settings?tab=limits", empty: ["No call limits yet"] },
  { path: "settings?tab=portal", empty: ["No portal links yet"] },
  { path: "admin/projects" },
  { path: "admin/quarantine", empty: ["Quarantine is empty"], filtered: ["?toolkit=calendar", "No post matches"] },
  { path: "admin/audit", filtered: ["?action=None.Such", "No entry matches"] },
];

/** Returns the parts of a page that stand in for rows: loading marks, errors, and headings of lists without rows. */
function standsIn(page: Page) {
  const main = page.getByRole("main");
  return {
    loading: main.getByText("Loading", { exact: true }),
    failed: main.getByRole("alert").filter({ has: page.getByRole("button", { name: "Try again" }) }),
    heading: (name: string | RegExp) => main.getByRole("heading", { name, exact: true }),
  };
}

/** Every heading that the console shows for a list without rows. */
const anyEmpty = /^(?:No .+ (?:yet|matches)|Nobody is asked anything|Nothing was settled yet|Nothing is held)$/;

/** Opens a page and checks its text in each state of its lists. */
async function openList({ path, empty = [], filtered, isOfMemory = false }: ListedPage) {
  const { page, faults } = await (path.startsWith("admin/")
    ? consoles.open({ path, key: consoles.svc.adminToken })
    : consoles.open({ path: `p/${consoles.projectId}/${path}` }));
  const { loading, failed, heading } = standsIn(page);
  const address = page.url();
  const isEmpty = async () => {
    for (const title of empty) await heading(title).first().waitFor();
    await failed.first().waitFor({ state: "detached" });
    await loading.first().waitFor({ state: "detached" });
  };
  return {
    isEmpty,
    async isFiltered() {
      if (filtered === undefined) return;
      const [search, title] = filtered;
      await page.goto(`${address}${search}`);
      await heading(title).waitFor();
      for (const other of empty) expect(await heading(other).count()).toBe(0);
      await page.getByRole("main").getByRole("button", { name: "Clear filters" }).last().click();
      await heading(title).waitFor({ state: "detached" });
      expect(page.url()).not.toContain(search.slice(1));
    },
    async isLoading() {
      if (isOfMemory) return;
      await page.goto(address);
      await loading.first().waitFor();
      expect([await failed.count(), await heading(anyEmpty).count()]).toEqual([0, 0]);
    },
    async expectsFailure() {
      faults.expectStatus(503);
    },
    async isFailed() {
      if (isOfMemory) return;
      await page.goto(address);
      await failed.first().waitFor();
      await failed.first().getByText("STORE_UNAVAILABLE").waitFor();
      expect(await heading(anyEmpty).count()).toBe(0);
    },
  };
}

// Six pages are opened at once, because each tries for two seconds before it reports a failure. Each has a browser context of its own: one
// browser makes at most six connections, and loading lists keep them.
const together = 6;
const groups = pages.flatMap((_, place) => (place % together === 0 ? [pages.slice(place, place + together)] : []));

browserTest.each(groups.map((group) => [group.map(({ path }) => path).join(", "), group] as const))(
  "%s",
  async (_, group) => {
    const lists = await Promise.all(group.map(async (listed) => ({ path: listed.path, seen: await openList(listed) })));
    const all = (state: keyof (typeof lists)[number]["seen"]) =>
      Promise.all(
        lists.map(({ path, seen }) =>
          seen[state]().catch((cause) => {
            throw new Error(`${path}, ${state}: ${cause}`, { cause });
          }),
        ),
      );
    await all("isEmpty");
    await all("isFiltered");
    store.hold();
    await all("isLoading");
    store.release();
    await all("isEmpty");
    await all("expectsFailure");
    await store.close();
    await all("isFailed");
    await store.reopen();
    await all("isEmpty");
  },
);

// The tests from here on create objects, so lists are no longer empty.

type Part = {
  name: string;
  /** The API call that reads this part of the page. */
  call: string;
  within: (page: Page) => Locator;
  /** Text shown once the data is known. */
  stands: string;
  /** Text that would wrongly be shown while nothing is known. */
  otherwise?: string;
  /** True if the page tries the call again without any action of the user. */
  byItself?: boolean;
  open: () => Promise<ConsolePage>;
  /** Opens the part first, such as a line that unfolds. */
  reveal?: (page: Page) => Promise<void>;
};

const region = (name: string) => (page: Page) => page.getByRole("region", { name, exact: true });
const panel = (name: string) => (page: Page) => page.getByRole("tabpanel", { name, exact: true });

/** Opens the page of a job that waits for an hour. */
async function openJob(tab = "timeline"): Promise<ConsolePage> {
  const program = { version: 1, title: "Rest", steps: [{ id: "rest", wait: "1h" }] };
  const id = await submitProgram(consoles.svc, program);
  await jobWithStatus(consoles.svc, id, "PARKED");
  return consoles.open({ path: `p/${consoles.projectId}/jobs/${id}?tab=${tab}` });
}

/**
 * Opens the page of an event with one delivery to a failing endpoint. The delivery was either tried or is waiting because of the endpoint's
 * failures.
 */
async function openDelivery({ isTried }: { isTried: boolean }): Promise<ConsolePage> {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 503, headers: { "retry-after": "600" }, body: "later" });
  const { svc, projectId } = consoles;
  // Removes the other subscriptions, so that each event goes only to this endpoint.
  const { subscriptions = [] } = (await svc.call("svc.v1.TriggersService/ListSubscriptions", {})).json;
  for (const { id } of subscriptions) {
    await svc.call("svc.v1.TriggersService/UpdateSubscription", { id, active: false });
  }
  const { subscription } = (await svc.call("svc.v1.TriggersService/CreateSubscription", { endpointUrl: receiver.url }))
    .json;
  const deliveries = async (): Promise<{ eventId: string; attempts: number }[]> =>
    (await svc.call("svc.v1.TriggersService/ListDeliveries", { subscriptionId: subscription.id })).json.deliveries;
  const areTried = async (attempts: string) => (await deliveries()).map((one) => one.attempts).join() === attempts;
  await postCalendar(svc);
  await until(() => areTried("1"));
  if (!isTried) await postCalendar(svc);
  await until(() => areTried(isTried ? "1" : "0,1"));
  const [newest] = await deliveries();
  return consoles.open({ path: `p/${projectId}/events/${newest?.eventId}` });
}

const line = (page: Page) => region("Deliveries")(page).getByRole("listitem");
const openLine = (page: Page) =>
  line(page)
    .getByText(/^(?:Waiting|Retrying)$/)
    .click();

/** Lists in a page that also shows other data. Only the list's own call is held, and then answered as not found. */
const parts: readonly Part[] = [
  {
    name: "the deliveries of an event",
    call: "ListDeliveries",
    within: region("Deliveries"),
    stands: "No subscription matched this event, so it was not delivered.",
    open: async () => {
      await postCalendar(consoles.svc);
      const list = () => consoles.svc.call("svc.v1.TriggersService/ListEvents", {});
      await until(async () => (await list()).json.events?.length > 0);
      const { json } = await list();
      return consoles.open({ path: `p/${consoles.projectId}/events/${json.events[0].id}` });
    },
  },
  {
    name: "the keys of a project",
    call: "ListApiKeys",
    within: region("Keys"),
    stands: "No keys yet",
    open: async () => {
      const { json } = await consoles.svc.admin("CreateProject", { name: "without keys" });
      return consoles.open({ path: `admin/projects/${json.project.id}`, key: consoles.svc.adminToken });
    },
  },
  {
    name: "what a project uses",
    call: "GetProjectUsage",
    within: panel("Usage"),
    stands: "Subscriptions for all users",
    open: () => consoles.open({ path: `admin/projects/${consoles.projectId}?tab=usage`, key: consoles.svc.adminToken }),
  },
  {
    name: "the steps of a job",
    call: "ListSteps",
    within: panel("Timeline"),
    stands: "waiting for a time",
    otherwise: "waiting",
    open: () => openJob(),
  },
  {
    name: "the log of a job",
    call: "WatchJob",
    within: panel("Log"),
    stands: "step-started",
    otherwise: "ended",
    byItself: true,
    open: () => openJob("log"),
  },
  {
    name: "the attempts of a delivery",
    call: "ListDeliveryAttempts",
    within: line,
    stands: "The endpoint answered 503.",
    otherwise: "not sent yet",
    open: () => openDelivery({ isTried: true }),
    reveal: openLine,
  },
  {
    name: "the attempts of a delivery without any",
    call: "ListDeliveryAttempts",
    within: line,
    stands: "not sent yet",
    open: () => openDelivery({ isTried: false }),
    reveal: openLine,
  },
];

/**
 * Intercepts one API call of a page: passes it on, holds it, or sends it where the service answers not found. Held requests continue when
 * the mode changes.
 */
async function steerCall(page: Page, call: string) {
  const kept: Route[] = [];
  let way: "on" | "kept" | "astray" = "on";
  await page.route(`**/svc.v1.*/${call}`, async (route) => {
    if (way === "kept") kept.push(route);
    else await route.continue(way === "astray" ? { url: `${route.request().url()}Gone` } : {});
  });
  return async (to: typeof way) => {
    way = to;
    // The page may have aborted the held request.
    await Promise.all(kept.splice(0).map((route) => route.continue().catch(() => undefined)));
  };
}

browserTest.each(parts)("$name, a list within a page", async (listed) => {
  const { call, within, stands, otherwise = stands, byItself = false, open, reveal = async () => {} } = listed;
  const { page, faults } = await open();
  const part = within(page);
  const known = part.getByText(stands);
  const unknown = part.getByText(otherwise, { exact: true });
  const loading = part.getByText("Loading", { exact: true });
  const failed = part.getByRole("alert");
  const counts = () => Promise.all([known, unknown, loading, failed].map((one) => one.count()));
  await reveal(page);
  await known.waitFor();
  const send = await steerCall(page, call);
  await send("kept");
  await page.reload();
  await reveal(page);
  await loading.waitFor();
  expect(await counts()).toEqual([0, 0, 1, 0]);
  await send("on");
  await known.waitFor();
  await loading.waitFor({ state: "detached" });
  faults.expectStatus(404);
  await send("astray");
  await page.reload();
  await reveal(page);
  // A later change may make the page read the part again, which then loads until it has failed again.
  await until(async () => isDeepStrictEqual(await counts(), [0, 0, 0, 1]), "it has failed");
  const again = failed.getByRole("button", { name: "Try again" });
  if (!byItself) await again.waitFor();
  await send("on");
  await until(async () => {
    // A change in the project may have reloaded the part already, and then the button is gone.
    if (!byItself) await again.click({ timeout: 1_000 }).catch(() => undefined);
    return (await known.count()) > 0;
  }, "it is read again");
  await failed.waitFor({ state: "detached" });
});

browserTest("the runs of a schedule, which are a list within a page", async () => {
  const { json } = await consoles.svc.call("svc.v1.StandingService/CreateStandingProgram", {
    slug: "daily",
    definitionJson: JSON.stringify({
      ...{ version: 1, title: "Each day", timeZone: "UTC", source: { schedule: { cron: [cronHalfADayAway()] } } },
      program: { version: 1, title: "Wait", steps: [{ id: "rest", wait: "1s" }] },
    }),
  });
  const path = `p/${consoles.projectId}/schedules/${json.standingProgram.id}`;
  const { page, faults } = await consoles.open({ path });
  const runs = page.getByRole("region", { name: "Runs" });
  await runs.getByText("No runs yet.").waitFor();
  await page.goto(`${page.url()}?reason=missed`);
  await runs.getByRole("heading", { name: "No run has the reason missed" }).waitFor();
  await runs.getByRole("button", { name: "Clear filters" }).click();
  await runs.getByText("No runs yet.").waitFor();
  expect(page.url()).not.toContain("missed");
  faults.expectStatus(503);
  await store.close();
  await page.reload();
  await standsIn(page).failed.first().waitFor();
  expect(await page.getByText("No runs yet.").count()).toBe(0);
  await store.reopen();
  await runs.getByText("No runs yet.").waitFor();
});

browserTest("a filter that is opened before its values have come stays open, and has them when they come", async () => {
  const { page } = await consoles.open({ path: `p/${consoles.projectId}/accounts` });
  const send = await steerCall(page, "ListToolkits");
  await send("kept");
  await page.reload();
  await page.getByRole("combobox", { name: "App: any" }).click();
  await page.getByRole("option", { name: "any" }).waitFor();
  expect(await page.getByRole("option").count()).toBe(1);
  await send("on");
  await page.getByRole("option", { name: /^messaging_bot/ }).click();
  await page.getByRole("combobox", { name: "App: messaging_bot" }).waitFor();
  await page.getByRole("combobox", { name: "App: messaging_bot" }).click();
  await page.getByRole("combobox", { name: "Search App" }).waitFor();
});
