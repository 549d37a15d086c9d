import { until } from "@svc/testing/until";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { findBarriers } from "../axe.ts";
import { browserTest, startConsole } from "../browser.ts";
import { announcingProgram, cronHalfADayAway, jobWithStatus, seedPeople, submitProgram } from "../jobs-seed.ts";

const consoles = startConsole({
  seed: async (svc) => {
    await seedPeople(svc);
    const account = { toolkitSlug: "sales_crm", entityId: "sandbox:error", apiKey: "any-key" };
    await svc.call("svc.v1.ConnectionsService/InitiateConnection", account);
  },
});
const path = (page: string) => `p/${consoles.projectId}/${page}`;

// The sandbox answers every call of this user with an error.
const failing = (title: string) => ({
  version: 1,
  title,
  steps: [
    { id: "deals", call: "sales_crm.list_deals", entity: "ops" },
    { id: "lost", call: "sales_crm.get_deal", entity: "sandbox:error", args: { deal_id: 1 } },
  ],
});

async function failedJob(title: string): Promise<string> {
  const id = await submitProgram(consoles.svc, failing(title));
  await jobWithStatus(consoles.svc, id, "FAILED");
  return id;
}

const attemptsOf = async (id: string) =>
  (await consoles.svc.call("svc.v1.JobsService/GetJob", { id })).json.job.attempt as number;

/** Returns a function that presses an element, and the number of presses so far. */
function counter() {
  let presses = 0;
  const press = async (element: Locator) => {
    await element.click();
    presses++;
  };
  return { press, presses: () => presses };
}

const sizes = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 390, height: 844 },
];

/** Checks that a page has no accessibility problem and no text outside the window, in three sizes. */
async function judge(page: Page): Promise<void> {
  for (const size of sizes) {
    await page.setViewportSize(size);
    expect(await findBarriers(page)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

browserTest("the jobs that failed are retried in three presses, and the number is known before", async () => {
  const ids = [await failedJob("Look for a deal"), await failedJob("Look for another deal")];
  const { page } = await consoles.open({ path: path("jobs") });
  const { press, presses } = counter();
  const row = page.getByRole("row", { name: "Look for a deal" });
  await row
    .getByText("Sales crm", { exact: false })
    .or(row.getByText("Sales CRM", { exact: false }))
    .first()
    .waitFor();
  await row.getByText("2 of 2").or(row.getByText("1 of 2")).first().waitFor();
  await judge(page);
  await press(page.getByRole("navigation", { name: "State" }).getByRole("link", { name: "Failed" }));
  await press(page.getByRole("button", { name: "Retry all that failed" }));
  const dialog = page.getByRole("dialog", { name: "Retry 2 jobs?" });
  await dialog.waitFor();
  await press(dialog.getByRole("button", { name: "Retry 2 jobs" }));
  await page.getByText("2 jobs were retried.").waitFor();
  expect(presses()).toBe(3);
  await until(async () => (await Promise.all(ids.map(attemptsOf))).every((attempt) => attempt === 2), "both run again");
});

browserTest("a retry of all jobs goes on with the older ones by itself, and shows how many it has done", async () => {
  const [id, newest] = [await failedJob("Many of one kind"), await failedJob("Many of one kind")];
  const { page } = await consoles.open({ path: path("jobs?preset=failed&title=Many of one kind") });
  const isSeen = Promise.withResolvers<void>();
  // The first call answers as if the newest 1,000 jobs had refused. The second one reaches the service.
  const first = { matched: 1_000, hasMore: true, next: newest, until: new Date().toISOString() };
  await page.route("**/BulkJobs", async (route) => {
    const { after, dryRun } = route.request().postDataJSON();
    if (after !== newest) return route.fulfill({ json: { ...first, refused: dryRun === true ? 0 : 1_000 } });
    await isSeen.promise;
    return route.continue();
  });
  await page.getByRole("button", { name: "Retry all that failed" }).click();
  const dialog = page.getByRole("dialog", { name: "Retry all jobs that match?" });
  await dialog.getByText("At least 1,000 jobs match.").waitFor();
  await dialog.getByRole("button", { name: "Retry all jobs that match" }).click();
  await dialog.getByText("0 jobs were retried, 1,000 refused so far.").waitFor();
  isSeen.resolve();
  await page.getByText("1 job was retried, 1,000 refused.").waitFor();
  await until(async () => (await attemptsOf(id)) === 2, "the older job runs again");
  expect(await attemptsOf(newest)).toBe(1);
});

browserTest("one selected job is retried by the keyboard, and the others stay", async () => {
  const [first, second] = [await failedJob("First of two"), await failedJob("Second of two")];
  const { page } = await consoles.open({ path: path("jobs?title=of two") });
  await page.getByRole("row", { name: "Second of two" }).focus();
  await page.keyboard.press("x");
  await page.getByText("1 selected").waitFor();
  await page.getByRole("button", { name: "Retry selected" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Retry 1 job" }).click();
  await until(async () => (await attemptsOf(second)) === 2, "the selected one runs again");
  expect(await attemptsOf(first)).toBe(1);
});

browserTest("a failure on Home leads to its page, which says when it happened and retries its jobs", async () => {
  const id = await failedJob("Fails for Home");
  const { failure } = (await consoles.svc.call("svc.v1.JobsService/GetJob", { id })).json.job;
  const isCounted = async () => {
    const { groups } = (await consoles.svc.call("svc.v1.StatsService/ListFailures", {})).json;
    return groups.some(({ fingerprint }: { fingerprint: string }) => fingerprint === failure.fingerprint);
  };
  await until(isCounted, "the failure is counted");
  const { page } = await consoles.open({ path: path("home?view=activity") });
  const { press, presses } = counter();
  await press(page.getByRole("link", { name: failure.title }).first());
  await page.getByRole("heading", { name: failure.title, level: 1 }).waitFor();
  await page.getByRole("img", { name: /in the last 24 hours/ }).waitFor();
  await page.getByRole("list", { name: "Jobs" }).getByText("Fails for Home").waitFor();
  await judge(page);
  await press(page.getByRole("button", { name: "Retry all" }));
  await press(page.getByRole("dialog").getByRole("button", { name: /^Retry \d+ jobs?$/ }));
  expect(presses()).toBe(3);
  await until(async () => (await attemptsOf(id)) === 2, "the job runs again");
});

browserTest("a job is compared with the last success of its program, step by step", async () => {
  const good = await submitProgram(consoles.svc, announcingProgram);
  await jobWithStatus(consoles.svc, good, "SUCCEEDED");
  const next = await submitProgram(consoles.svc, announcingProgram);
  await jobWithStatus(consoles.svc, next, "SUCCEEDED");
  const { page } = await consoles.open({ path: path(`jobs/${next}`) });
  await page.getByRole("tab", { name: "Compare" }).click();
  const table = page.getByRole("region", { name: "Steps of both jobs" });
  await table.getByRole("rowheader", { name: "tell" }).waitFor();
  await page.getByText("Compared with").waitFor();
  expect(await table.getByText("Done", { exact: true }).count()).toBeGreaterThanOrEqual(2);
  await judge(page);
});

browserTest("a run of a schedule has a page with its cause and its job", async () => {
  const { standingProgram } = (
    await consoles.svc.call("svc.v1.StandingService/CreateStandingProgram", {
      slug: "announce-often",
      definitionJson: JSON.stringify({
        version: 1,
        title: "Announce often",
        timeZone: "UTC",
        source: { schedule: { cron: [cronHalfADayAway()] } },
        program: announcingProgram,
      }),
    })
  ).json;
  const { run } = (await consoles.svc.call("svc.v1.StandingService/RunStandingProgram", { id: standingProgram.id }))
    .json;
  await jobWithStatus(consoles.svc, run.jobId, "SUCCEEDED");
  const { page } = await consoles.open({ path: path(`schedules/${standingProgram.id}`) });
  await page.getByRole("region", { name: "Runs" }).locator(`a[href$="${run.id}"]`).click();
  await page.getByRole("heading", { name: "Run started by a caller", level: 1 }).waitFor();
  await page
    .getByRole("link", { name: run.jobId.slice(-4) })
    .first()
    .waitFor();
  await judge(page);
  const list = await consoles.open({ path: path("schedules") });
  await list.page.getByRole("row", { name: "Announce often" }).getByText("100 %").waitFor();
});
