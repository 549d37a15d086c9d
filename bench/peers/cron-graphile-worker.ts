import { parseCronItems, run } from "graphile-worker";
import { answerCommands } from "../child.ts";
import { type CronCommands, cronOf, minuteAfter } from "./cron-commands.ts";
import { workerOptions } from "./graphile-worker-options.ts";
import { openPool, type PeerPool } from "./store.ts";

/** Milliseconds within which the peer has started and has read its schedules. */
const leadMs = 10_000;

let sql: PeerPool;

const commands: CronCommands = {
  start: async ({ databaseUrl, count }) => {
    sql = openPool(databaseUrl, 1);
    const dueAtMs = minuteAfter(leadMs);
    const items = Array.from({ length: count }, (_, index) => ({
      task: "tick",
      match: cronOf(dueAtMs),
      identifier: `schedule-${index}`,
    }));
    await run({
      taskList: { tick: async () => {} },
      parsedCronItems: parseCronItems(items),
      ...workerOptions(databaseUrl),
    });
    return dueAtMs;
  },
  // The statement that stores the jobs also sets last_execution, so this counts the stored jobs.
  queued: async () => {
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int4 as count from graphile_worker._private_known_crontabs where last_execution is not null`;
    return row?.count ?? 0;
  },
};

answerCommands(commands);
