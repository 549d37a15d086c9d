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

// An empty, a loading, a failed and a filtered-to-nothing list look different, on every page: of each it is said here what stands in it.
// The store is reached by a way that can be held, so that a list loads for as long as it is looked at, and closed, so that it fails.
const database = await createTestDatabase();
const store = await startForwarder(database.url);
const variables = { SVC_DATABASE_URL: store.url, SVC_WEBHOOK_SECRET_CALENDAR: calendarSecret };
const consoles = startConsole({ variables });
afterAll(async () => {
  await store.close();
  await database.drop();
});

// Whatever a test found wrong, the next one finds the store.
afterEach(async () => {
  store.release();
  await store.reopen();
});

type ListedPage = {
  /** Its path below that of the project, or one of the administration. */
  path: string;
  /** The headings of what stands in its lists while they are empty; none where something is always there. */
  empty?: readonly string[];
  /** What in its address lets nothing through, and the heading that is there then. */
  filtered?: readonly [search: string, heading: string];
  /** The service answers it without its store, so that it neither waits nor fails here. */
  isOfMemory?: boolean;
};

const pages: readonly ListedPage[] = [
  { path: "events", empty: ["No events yet"], filtered: ["?toolkit=calendar", "No event matches"] },
  { path: "deliveries", empty: ["No subscription yet"], filtered: ["?state=dead_letter", "No delivery matches"] },
  { path: "subscriptions", empty: ["No subscription yet"] },
  { path: "replays", empty: ["No replay yet"] },
  { path: "ingest", isOfMemory: true },
  { path: "tools", filtered: ["?q=zzzz", "No tool matches"], isOfMemory: true },
  { path: "accounts", empty: ["No accounts yet"], filtered: ["?entity=nobody", "No account matches"] },
  { path: "calls", empty: ["No calls yet"], filtered: ["?tool=calendar.list_events", "No call matches"] },
  { path: "jobs", empty: ["No jobs yet"], filtered: ["?title=none", "No job matches"] },
  { path: "asks", empty: ["Nobody is asked anything"], filtered: ["?of=nobody", "No ask matches"] },
  { path: "asks?show=settled", empty: ["Nothing was settled yet"], filtered: ["&of=nobody", "No ask matches"] },
  { path: "contacts" },
  { path: "contacts?tab=endpoints", empty: ["No ask endpoints yet"] },
  { path: "skills", empty: ["No skills yet"] },
  { path: "schedules", empty: ["No schedules yet"], filtered: ["?state=active", "No schedule matches"] },
  { path: "settings" },
  { path: "settings?tab=agents", empty: ["No agent was let in yet"] },
  { path: "settings?tab=secrets", empty: ["No secrets yet"] },
  { path: "settings?tab=limits", empty: ["No call limits yet"] },
  { path: "admin/projects" },
  { path: "admin/quarantine", empty: ["Nothing is held"], filtered: ["?toolkit=calendar", "No post matches"] },
  { path: "admin/audit", filtered: ["?action=None.Such", "No deed matches"] },
];

/** What stands in the place of rows: what loads, what failed, and headings of lists without any. */
function standsIn(page: Page) {
  const main = page.getByRole("main");
  return {
    loading: main.getByText("Loading", { exact: true }),
    failed: main.getByRole("alert").filter({ has: page.getByRole("button", { name: "Try again" }) }),
    heading: (name: string | RegExp) => main.getByRole("heading", { name, exact: true }),
  };
}

/** What stands where a list has no row, whichever list it is. */
const anyEmpty = /^(?:No .+ (?:yet|matches)|Nobody is asked anything|Nothing was settled yet|Nothing is held)$/;

/** Opens a page, and has what is to be seen there in each state of its lists. */
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

// Several at once: each tries for two seconds before it says that it failed, and each in a browser of its own, since one browser makes
// six connections at most, which lists that load keep.
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

// From here on something is made, so that lists are no longer empty.

type Part = {
  name: string;
  /** The call that it is read by. */
  call: string;
  within: (page: Page) => Locator;
  /** What stands there once it is known. */
  stands: string;
  /** What would stand there, too, if nothing were known. */
  otherwise?: string;
  /** It is tried again without anybody's asking. */
  byItself?: boolean;
  open: () => Promise<ConsolePage>;
  /** What is pressed first, as of a line that opens. */
  reveal?: (page: Page) => Promise<void>;
};

const region = (name: string) => (page: Page) => page.getByRole("region", { name, exact: true });
const panel = (name: string) => (page: Page) => page.getByRole("tabpanel", { name, exact: true });

/** The page of a job that waits for an hour. */
async function openJob(): Promise<ConsolePage> {
  const program = { version: 1, title: "Rest", steps: [{ id: "rest", wait: "1h" }] };
  const id = await submitProgram(consoles.svc, program);
  await jobWithStatus(consoles.svc, id, "PARKED");
  return consoles.open({ path: `p/${consoles.projectId}/jobs/${id}` });
}

/** The page of an event with one delivery, to an endpoint that fails: one that was tried, or one that waits since. */
async function openDelivery({ isTried }: { isTried: boolean }): Promise<ConsolePage> {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 503, headers: { "retry-after": "600" }, body: "later" });
  const { svc, projectId } = consoles;
  // Its events go to its endpoint alone.
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
const openLine = (page: Page) => line(page).getByText("pending").click();

/** Lists within a page that has something else, too: their call alone is held, and then answered that there is none of that name. */
const parts: readonly Part[] = [
  {
    name: "the deliveries of an event",
    call: "ListDeliveries",
    within: region("Deliveries"),
    stands: "No subscription matched this event, so it was delivered to nobody.",
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
    stands: "Private toolkits",
    open: () => consoles.open({ path: `admin/projects/${consoles.projectId}?tab=usage`, key: consoles.svc.adminToken }),
  },
  {
    name: "the steps of a job",
    call: "ListSteps",
    within: region("Steps"),
    stands: "running",
    otherwise: "waiting",
    open: openJob,
    // What the log tells has the steps read again.
    reveal: (page) => panel("Log")(page).getByText("step-started").waitFor(),
  },
  {
    name: "the log of a job",
    call: "WatchJob",
    within: panel("Log"),
    stands: "step-started",
    otherwise: "ended",
    byItself: true,
    open: openJob,
  },
  {
    name: "the attempts of a delivery",
    call: "ListDeliveryAttempts",
    within: line,
    stands: "The endpoint answered 503.",
    otherwise: "No attempt was made yet.",
    open: () => openDelivery({ isTried: true }),
    reveal: openLine,
  },
  {
    name: "the attempts of a delivery without any",
    call: "ListDeliveryAttempts",
    within: line,
    stands: "No attempt was made yet.",
    open: () => openDelivery({ isTried: false }),
    reveal: openLine,
  },
];

/** Has one call of a page go on, be kept, or go to where the service has nothing. What was kept goes on when the way changes. */
async function steerCall(page: Page, call: string) {
  const kept: Route[] = [];
  let way: "on" | "kept" | "astray" = "on";
  await page.route(`**/svc.v1.*/${call}`, async (route) => {
    if (way === "kept") kept.push(route);
    else await route.continue(way === "astray" ? { url: `${route.request().url()}Gone` } : {});
  });
  return async (to: typeof way) => {
    way = to;
    // The page may have given it up.
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
  // What else comes of the page may have it read once more, and it loads again until it has failed again.
  await until(async () => isDeepStrictEqual(await counts(), [0, 0, 0, 1]), "it has failed");
  const again = failed.getByRole("button", { name: "Try again" });
  if (!byItself) await again.waitFor();
  await send("on");
  await until(async () => {
    // News of the project may have had it read again by now, and the button with it is gone.
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
  await runs.getByText("It has not run yet.").waitFor();
  await page.goto(`${page.url()}?reason=missed`);
  await runs.getByRole("heading", { name: "No run has the reason missed" }).waitFor();
  await runs.getByRole("button", { name: "Clear filters" }).click();
  await runs.getByText("It has not run yet.").waitFor();
  expect(page.url()).not.toContain("missed");
  faults.expectStatus(503);
  await store.close();
  await page.reload();
  await standsIn(page).failed.first().waitFor();
  expect(await page.getByText("It has not run yet.").count()).toBe(0);
  await store.reopen();
  await runs.getByText("It has not run yet.").waitFor();
});

browserTest("a filter that is opened before its values have come stays open, and has them when they come", async () => {
  const { page } = await consoles.open({ path: `p/${consoles.projectId}/accounts` });
  const send = await steerCall(page, "ListToolkits");
  await send("kept");
  await page.reload();
  await page.getByRole("combobox", { name: "Toolkit: any" }).click();
  await page.getByRole("option", { name: "any" }).waitFor();
  expect(await page.getByRole("option").count()).toBe(1);
  await send("on");
  await page.getByRole("option", { name: /^messaging_bot/ }).click();
  await page.getByRole("combobox", { name: "Toolkit: messaging_bot" }).waitFor();
  await page.getByRole("combobox", { name: "Toolkit: messaging_bot" }).click();
  await page.getByRole("combobox", { name: "Search Toolkit" }).waitFor();
});
