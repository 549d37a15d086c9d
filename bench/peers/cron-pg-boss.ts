import { PgBoss } from "pg-boss";
import { answerCommands } from "../child.ts";
import { type CronCommands, cronOf, minuteAfter } from "./cron-commands.ts";
import { openPool, type PeerPool } from "./store.ts";

/** Connections for creating schedules at the same time, and for work. */
const connectionsMax = 16;
/** Largest times in milliseconds: to create a schedule, and to start. */
const perScheduleMs = 4;
const leadMs = 15_000;

const queue = "tick";
let sql: PeerPool;

const commands: CronCommands = {
  start: async ({ databaseUrl, count }) => {
    sql = openPool(databaseUrl, 1);
    const dueAtMs = minuteAfter(leadMs + count * perScheduleMs);
    // These are the shortest intervals that the peer allows.
    const often = { cronMonitorIntervalSeconds: 1, cronWorkerIntervalSeconds: 1 };
    const boss = new PgBoss({ connectionString: databaseUrl, max: connectionsMax, ...often });
    boss.on("error", (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
    await boss.start();
    await boss.createQueue(queue);
    const settings = { localConcurrency: 2, batchSize: 100, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };
    await boss.work(queue, settings, async () => {});
    let next = 0;
    const make = async () => {
      for (let index = next++; index < count; index = next++)
        await boss.schedule(queue, cronOf(dueAtMs), { index }, { tz: "UTC", key: `schedule-${index}` });
    };
    await Promise.all(Array.from({ length: connectionsMax }, make));
    if (performance.timeOrigin + performance.now() >= dueAtMs)
      throw new Error(`to make ${count} schedules took longer than was thought`);
    return dueAtMs;
  },
  queued: async () => {
    const [row] = await sql<{ count: number }[]>`select count(*)::int4 as count from pgboss.job where name = ${queue}`;
    return row?.count ?? 0;
  },
};

answerCommands(commands);
