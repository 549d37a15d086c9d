import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { TestServer } from "@svc/testing/server";
import type { Page } from "playwright-core";
import { root } from "../source.ts";
import { seedOverview } from "./areas/overview.ts";
import { browserTest, startConsole } from "./browser.ts";
import { askingProgram, jobWithStatus, submitProgram } from "./jobs-seed.ts";

// Takes the picture of README.md and that of a job in the console's guide. Only `npm run console:pictures` takes them, because they would
// differ in each run of the tests.

const isWanted = process.env["SVC_CONSOLE_PICTURES"] !== undefined;
const images = join(root, "docs", "images");

let asking = "";
const consoles = startConsole({
  seed: async (svc) => {
    if (!isWanted) return;
    mkdirSync(images, { recursive: true });
    await seedOverview(svc);
    await countDay(svc);
    asking = await submitProgram(svc, askingProgram);
    await jobWithStatus(svc, asking, "PARKED");
  },
});

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
}

const picture = (page: Page, name: string) =>
  page.screenshot({ path: join(images, `${name}.png`), animations: "disabled" });

browserTest.skipIf(!isWanted)(
  "the overview and a job that asks, as README.md and the console's guide show them",
  async () => {
    const overview = (await consoles.open({ path: `p/${consoles.projectId}/home?range=24h` })).page;
    await overview.getByRole("link", { name: "2 questions waiting" }).waitFor();
    await overview.locator("canvas").nth(4).waitFor();
    await picture(overview, "overview");
    const job = (await consoles.open({ path: `p/${consoles.projectId}/jobs/${asking}` })).page;
    await job.getByRole("button", { name: "Continue the job" }).waitFor();
    await picture(job, "job");
  },
);
