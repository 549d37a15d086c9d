import { PgBoss } from "pg-boss";
import { answerCommands } from "../child.ts";
import type { PeerCommands } from "./commands.ts";
import { closeItem, countItems, createOutcomes, type ItemJob, recordItems, serveJobs } from "./job-server.ts";
import { openPool, type PeerPool } from "./store.ts";

/** Settings as in pg-boss.ts, where they were chosen by measurement. */
const workSettings = { localConcurrency: 2, batchSize: 100, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };

/** Connections for inserting events and outcomes. */
const connectionsMax = 16;

const queue = "close";
let sql: PeerPool;

const commands: PeerCommands = {
  start: async ({ databaseUrl }) => {
    sql = openPool(databaseUrl, connectionsMax);
    await createOutcomes(sql);
    const boss = new PgBoss({ connectionString: databaseUrl, max: workSettings.localConcurrency + 2, schedule: false });
    boss.on("error", (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
    await boss.start();
    await boss.createQueue(queue, { partition: true });
    await boss.work<ItemJob>(queue, workSettings, async (jobs) => {
      await recordItems(sql, await Promise.all(jobs.map(({ data }) => closeItem(data))));
    });
    return serveJobs((job) => submit(boss, job));
  },
  recorded: () => countItems(sql),
};

answerCommands(commands);

/** Submits a job to pg-boss. The insert goes through the pool that also records outcomes, because that pool prepares its statements. */
async function submit(boss: PgBoss, job: ItemJob): Promise<void> {
  const executeSql = async (text: string, values: unknown[] = []) => {
    return { rows: [...(await sql.unsafe(text, values.map(String), { prepare: true }))] };
  };
  await boss.insert(queue, [{ data: job }], { db: { executeSql }, returnId: false });
}
