import { startTestReceiver } from "@svc/testing/receiver";
import type { TestServer } from "@svc/testing/server";
import { until } from "@svc/testing/until";
import { seedOverview } from "./areas/overview.ts";
import { askingProgram, cronHalfADayAway, jobWithStatus, submitProgram } from "./jobs-seed.ts";
import { postCalendar } from "./post-calendar.ts";

/** Ids of what the pictures show. */
export type FilledProject = {
  readonly asking: string;
  readonly failed: string;
  readonly failing: string;
};

/** A program that reads from three apps at once, waits a moment, deletes the small deals, and then fails to change them. */
export const failingProgram = {
  version: 1,
  title: "Remind the team of open deals",
  approval: { plan: "never" },
  steps: [
    {
      id: "gather",
      parallel: {
        sales: [
          {
            id: "deals",
            call: "sales_crm.list_deals",
            entity: "ops",
            args: { status: "open", limit: 8 },
            rows: { from: "data[]", key: "id", keep: ["id", "title", "value"] },
          },
          { id: "worth", reduce: "deals", as: { sum: "sum value" } },
        ],
        operations: [
          {
            id: "incidents",
            call: "incident_mgmt.list_incidents",
            entity: "ops",
            args: {},
            rows: { from: "incidents[]", key: "id", keep: ["id", "urgency"] },
          },
          { id: "urgent", filter: "incidents", where: "row.urgency == 'high'" },
        ],
        imports: [
          {
            id: "tasks",
            call: "search_ingestion.list_tasks",
            entity: "ops",
            args: {},
            rows: { from: "tasks[]", key: "taskID", keep: ["taskID", "enabled"] },
          },
        ],
      },
    },
    { id: "nap", wait: "3s" },
    {
      id: "remind",
      map: "deals",
      do: [
        {
          id: "send",
          call: "messaging_bot.send_message",
          entity: "ops",
          args: { chat_id: "@sales", text: { $ref: "row.title" } },
        },
        {
          id: "archive",
          call: "sales_crm.delete_deal",
          entity: "ops",
          when: "int(row.id) % 2 == 0",
          args: { deal_id: { $ref: "row.id" }, confirm: true },
        },
        {
          id: "note",
          call: "sales_crm.update_deal",
          entity: "ops",
          args: { deal_id: { $ref: "row.id" }, title: "Reminded" },
        },
      ],
    },
    { id: "digest", reduce: "remind", as: { sent: "count ok" } },
  ],
};

/** Fills a project with a day of traffic, an endpoint that fails, a job that failed, and a job that asks. */
export async function fillProject(svc: TestServer): Promise<FilledProject> {
  await seedOverview(svc);
  for (const toolkitSlug of ["incident_mgmt", "search_ingestion"]) {
    await svc.call("svc.v1.ConnectionsService/InitiateConnection", { toolkitSlug, entityId: "ops", apiKey: "any-key" });
  }
  await countDay(svc);
  const failing = await seedFailingEndpoint(svc);
  const failed = await submitProgram(svc, failingProgram);
  await jobWithStatus(svc, failed, "FAILED");
  const asking = await submitProgram(svc, askingProgram);
  await jobWithStatus(svc, asking, "PARKED");
  await svc.call("svc.v1.StandingService/CreateStandingProgram", {
    slug: "team-calendar",
    definitionJson: JSON.stringify({
      version: 1,
      title: "Remind the team each day",
      timeZone: "Europe/Berlin",
      source: { schedule: { cron: [cronHalfADayAway()] } },
      program: askingProgram,
    }),
  });
  return { asking, failed, failing };
}

/** Creates a subscription whose endpoint answered well and now fails, with events that wait for it. Returns its id. */
async function seedFailingEndpoint(svc: TestServer): Promise<string> {
  await using endpoint = await startTestReceiver();
  endpoint.script(
    {},
    {},
    {},
    {},
    {
      status: 500,
      headers: { "content-type": "text/plain", "retry-after": "222" },
      body: "KeyError: 'tenant'\n  at app/hooks.py:88",
    },
  );
  const { subscription } = (
    await svc.call("svc.v1.TriggersService/CreateSubscription", {
      endpointUrl: endpoint.url.replace("/hook", "/webhooks/eu/acme-industries/calendar"),
      toolkitSlug: "calendar",
    })
  ).json;
  const tried = async () =>
    (await svc.call("svc.v1.TriggersService/ListDeliveries", { subscriptionId: subscription.id })).json.deliveries ??
    [];
  for (let n = 1; n <= 6; n += 1) {
    await postCalendar(svc, { state: n % 2 === 0 ? "exists" : "not_exists" });
    await until(async () => {
      const made = await tried();
      return made.length === n && (n > 5 || made.every(({ attempts }: { attempts: number }) => attempts > 0));
    });
  }
  return subscription.id;
}

/** Adds a day of traffic to the counters: more by day than by night, an endpoint that failed for an hour, and a slow app. */
async function countDay({ database: { db } }: TestServer): Promise<void> {
  await db.sql`
    with project as (select project_id from events limit 1), outcomes (series, outcome, base) as (values
      ('events', 'calendar', 9.0), ('events', 'shop', 5.0),
      ('deliveries', 'delivered', 22.0), ('deliveries', 'retried', 0.7),
      ('delivery_latency', '6', 4.0), ('delivery_latency', '7', 12.0), ('delivery_latency', '8', 5.0), ('delivery_latency', '11', 0.6),
      ('calls', 'ok', 14.0), ('calls', 'held', 0.5), ('calls', 'error', 0.4),
      ('call_latency', '9', 5.0), ('call_latency', '10', 7.0), ('call_latency', '12', 2.0),
      ('jobs', 'succeeded', 1.4), ('jobs', 'failed', 0.1)
    ), counted as (
      select series, outcome, date_trunc('minute', now()) - n * interval '1 minute' as at,
        base * (1 + 0.7 * sin((n + 180) / 1440.0 * 6.283)) * (0.6 + 0.8 * ('x' || substr(md5(series || outcome || n), 1, 4))::bit(16)::int / 65536)
          * case when outcome in ('retried', '11') and n between 400 and 460 then 12 else 1 end as count
      from outcomes, generate_series(1, 1439) n
    )
    insert into activity_minutes (project_id, series, subject, at, outcome, count)
    select project_id, series, '', at, outcome, round(count)::int8 from counted, project where round(count) > 0
    on conflict do nothing`;
  // The tiles of Home compare a day with the day before, by hour. The day before had a little less traffic.
  await db.sql`
    insert into activity_hours (project_id, series, subject, at, outcome, count)
    select project_id, series, subject, date_trunc('hour', at) - day * interval '1 day', outcome,
      round(sum(count * case day when 0 then 1 else 0.93 end))::int8
    from activity_minutes, generate_series(0, 1) day group by 1, 2, 3, 4, 5
    on conflict (project_id, series, subject, at, outcome) do update set count = excluded.count`;
}
