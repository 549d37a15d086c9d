import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startTestReceiver } from "@svc/testing/receiver";
import type { TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { connectOps, putContact, submit } from "../../jobs/project.ts";
import { root } from "../../source.ts";
import { postCalendar } from "../post-calendar.ts";

const backlogCall = "svc.v1.StatsService/GetBacklog";

/** Fills a project with examples of everything that the overview counts: events, deliveries of each outcome, calls, jobs and a question. */
export async function seedOverview(svc: TestServer): Promise<void> {
  await using good = await startTestReceiver();
  await using bad = await startTestReceiver();
  bad.script({ status: 503, headers: { "retry-after": "600" }, body: "later\n" });
  for (const endpointUrl of [good.url, bad.url.replace("/hook", "/bad")]) {
    await svc.call("svc.v1.TriggersService/CreateSubscription", { endpointUrl });
  }
  // The first delivery must fail before the others are created. The others then wait, as they do for any endpoint that fails.
  await postCalendar(svc);
  await until(async () => (await svc.call(backlogCall, {})).json.failingSubscriptions === 1);
  for (let n = 0; n < 2; n += 1) await postCalendar(svc);
  await connectOps(svc);
  const argumentsJson = JSON.stringify({ chat_id: "4711", text: "We are live" });
  await svc.call("svc.v1.ToolsService/CallTool", {
    toolSlug: "messaging_bot.send_message",
    entityId: "ops",
    argumentsJson,
  });
  for (const principalId of ["lead", "head"]) await putContact(svc, principalId);
  await submit(svc, JSON.parse(await readFile(join(root, "docs/examples/ask-before-writing.json"), "utf8")));
  await submit(svc, { steps: [{ id: "deals", call: "sales_crm.list_deals", entity: "ops", args: { limit: 5 } }] });
  await until(() => isCounted(svc), "everything is counted", 40_000);
  await countInOneStep(svc);
}

/** Number of seeded items by outcome. */
const counted: Record<string, number> = { calendar: 3, delivered: 3, retried: 1, ok: 3, succeeded: 1 };

/** True if the answers count everything that the seed made. Counters reach the store within ten seconds, at different times. */
async function isCounted(svc: TestServer): Promise<boolean> {
  const { json: backlog } = await svc.call(backlogCall, {});
  const { json: series } = await svc.call("svc.v1.StatsService/QuerySeries", {});
  const { json: failures } = await svc.call("svc.v1.StatsService/ListFailures", {});
  const totals = new Map<string, number>();
  for (const { outcome, counts } of series.lines ?? []) {
    const total = counts.reduce((sum: number, count: number) => sum + count, 0);
    totals.set(outcome, total);
  }
  return (
    backlog.pendingAsks === 1 &&
    backlog.failingSubscriptions === 1 &&
    failures.groups?.length === 1 &&
    Object.entries(counted).every(([outcome, total]) => totals.get(outcome) === total)
  );
}

/** Minutes per step of a chart that covers 24 hours. */
const stepMinutes = 8;

/**
 * Moves all counts to one minute, two hours ago. Otherwise a step of the chart could end during the seed, and the counts would be split
 * over two steps.
 */
async function countInOneStep({ database: { db } }: TestServer): Promise<void> {
  await db.sql`
    with counted as (delete from activity_minutes returning *), step as (
      select to_timestamp(floor(extract(epoch from now() - interval '2 hours') / ${stepMinutes * 60}) * ${stepMinutes * 60}) as at
    )
    insert into activity_minutes (project_id, series, subject, at, outcome, count)
    select project_id, series, subject, step.at, outcome, sum(count)::int8 from counted, step
    group by project_id, series, subject, step.at, outcome`;
}
