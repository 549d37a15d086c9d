import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { startTestReceiver } from "@svc/testing/receiver";
import type { TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { connectOps, putContact, submit } from "../../jobs/project.ts";
import { root } from "../../source.ts";
import { postCalendar } from "../post-calendar.ts";

const backlogCall = "svc.v1.StatsService/GetBacklog";

/** Fills a project with some of everything that the overview counts: events, deliveries of each outcome, calls, jobs and an ask. */
export async function seedOverview(svc: TestServer): Promise<void> {
  await using good = await startTestReceiver();
  await using bad = await startTestReceiver();
  bad.script({ status: 503, headers: { "retry-after": "600" }, body: "later\n" });
  for (const endpointUrl of [good.url, bad.url.replace("/hook", "/bad")]) {
    await svc.call("svc.v1.TriggersService/CreateSubscription", { endpointUrl });
  }
  // The first is refused before the others come: those then wait for it, as those of any endpoint that fails.
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
}

/** Whether all that was made is in the answers. Counters are added to the store within ten seconds. */
async function isCounted(svc: TestServer): Promise<boolean> {
  const { json: backlog } = await svc.call(backlogCall, {});
  const { json: series } = await svc.call("svc.v1.StatsService/QuerySeries", {});
  const outcomes = (series.lines ?? []).map(({ outcome }: { outcome: string }) => outcome);
  return (
    backlog.pendingAsks === 1 &&
    backlog.failingSubscriptions === 1 &&
    ["delivered", "retried", "ok", "succeeded"].every((outcome) => outcomes.includes(outcome))
  );
}
