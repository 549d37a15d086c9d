import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { createSvcClient } from "@svc/sdk";
import { startTestReceiver } from "@svc/testing/receiver";
import { startTestServer, type TestServer } from "@svc/testing/server";
import { calendarSecret, postCalendar } from "@svc/testing/server-process";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, type TestContext, test } from "vitest";
import { parse, stringify } from "yaml";
import { readText, root } from "./source.ts";

// Problems that are planted in real nodes, and the alerts that promtool derives from the metrics of these nodes.

const variables = { SVC_WEBHOOK_SECRET_CALENDAR: calendarSecret, SVC_SANDBOX: "force", SVC_RETRY_SCHEDULE: "1h" };
let healthy: TestServer;
let troubled: TestServer;
/** A node that stores deliveries and sends none. */
let stuck: TestServer;

beforeAll(async () => {
  healthy = await startTestServer({ variables });
  troubled = await startTestServer({ variables });
  stuck = await startTestServer({ variables: { ...variables, SVC_ROLE: "api" } });
}, 180_000);
afterAll(async () => {
  for (const server of [healthy, troubled, stuck]) await server?.stop();
});

/** Returns the samples that a node reports, without those of histograms. */
async function samplesOf({ url }: TestServer): Promise<Map<string, number>> {
  const answer = await fetch(`${url}/metrics`);
  expect(answer.status).toBe(200);
  const text = await answer.text();
  const lines = [...text.matchAll(/^(svc_\w+(?:\{[^}]*\})?) (\S+)$/gm)];
  return new Map(lines.flatMap(([, name = "", value]) => (name.includes("_bucket") ? [] : [[name, Number(value)]])));
}

const { groups } = parse(readText("deploy/prometheus/alerts.yml"));
const alerts: string[] = groups[0].rules.map(({ alert }: { alert: string }) => alert);

/** Samples that rules of the alerts judge, and that each node reports from its start. */
const judged = [
  ...["deliveries", "jobs", "schedules"].map((queue) => `svc_queue_oldest_seconds{queue="${queue}"}`),
  'svc_endpoints_unhealthy{state="failing"}',
  'svc_accounts{state="expired"}',
];

/**
 * Checks that a node reports the samples that the rules judge. Then checks with promtool that exactly the given alerts fire, if a node
 * reports the same samples for an hour. `skip`: called if promtool is missing.
 */
async function expectAlerts(
  skip: TestContext["skip"],
  samples: ReadonlyMap<string, number>,
  firing: Readonly<Record<string, object>>,
) {
  for (const name of judged) expect(samples.get(name), name).toSatisfy(Number.isFinite);
  const promtool = "/usr/bin/promtool";
  if (!existsSync(promtool)) skip("promtool is not on this machine: it is in the package prometheus of Debian");
  const folder = mkdtempSync(join(tmpdir(), "svc-alerts-"));
  try {
    const rules = alerts.map((alertname) => {
      const given = firing[alertname];
      return { alertname, eval_time: "50m", exp_alerts: given === undefined ? [] : [given] };
    });
    const series = [...samples].map(([name, value]) => ({ series: name, values: `${value}x60` }));
    const tests = [{ interval: "1m", input_series: series, alert_rule_test: rules }];
    const rule_files = [join(root, "deploy/prometheus/alerts.yml")];
    writeFileSync(join(folder, "recorded.yml"), stringify({ rule_files, evaluation_interval: "1m", tests }));
    await promisify(execFile)(promtool, ["test", "rules", "recorded.yml"], { cwd: folder });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function alertOf(labels: object, summary: string) {
  const runbook_url = "https://svc.example.com/docs/guides/operations/monitor#which-alerts-should-i-set";
  return { exp_labels: labels, exp_annotations: { summary, runbook_url } };
}

test("a node without problems raises no alert", async ({ skip }) => {
  await expectAlerts(skip, await samplesOf(healthy), {});
});

test("a dead endpoint and an expired account each raise their alert", async ({ skip }) => {
  await using receiver = await startTestReceiver();
  receiver.script({ status: 500 });
  const client = createSvcClient({ baseUrl: troubled.url, apiKey: troubled.key });
  await client.triggers.createSubscription({ endpointUrl: receiver.url });
  const { account } = await client.connections.initiateConnection({ toolkitSlug: "sales_crm", entityId: "ada" });
  const { sql } = troubled.database.db;
  await sql`update connected_accounts set state = 'expired' where state = 'active'`;
  expect(account?.id).toBeDefined();
  expect(await postCalendar(troubled, "channel", 1)).toBe(202);
  let samples = new Map<string, number>();
  // A node reads these numbers at most every five seconds.
  await until(async () => {
    samples = await samplesOf(troubled);
    return samples.get('svc_endpoints_unhealthy{state="failing"}') === 1;
  });
  expect(samples.get('svc_accounts{state="expired"}')).toBe(1);
  expect(samples.get('svc_queue_oldest_seconds{queue="deliveries"}')).toBe(0);
  await expectAlerts(skip, samples, {
    SvcEndpointsFail: alertOf({ severity: "warning" }, "1 endpoints fail."),
    SvcAccountsExpired: alertOf(
      { severity: "warning" },
      "1 accounts have expired. Calls with them fail until they are connected again.",
    ),
  });
});

test("a queue that no node works on raises its alert", async ({ skip }) => {
  await using receiver = await startTestReceiver();
  const client = createSvcClient({ baseUrl: stuck.url, apiKey: stuck.key });
  await client.triggers.createSubscription({ endpointUrl: receiver.url });
  expect(await postCalendar(stuck, "channel", 1)).toBe(202);
  await stuck.database.db.sql`update delivery_tasks set due_at = due_at - interval '10 minutes'`;
  const name = 'svc_queue_oldest_seconds{queue="deliveries"}';
  let samples = new Map<string, number>();
  await until(async () => {
    samples = await samplesOf(stuck);
    return (samples.get(name) ?? 0) >= 600;
  });
  samples.set(name, 601);
  await expectAlerts(skip, samples, {
    SvcQueueStuck: alertOf(
      { severity: "critical", queue: "deliveries" },
      "The oldest of the deliveries waits for 10m 1s.",
    ),
  });
});
