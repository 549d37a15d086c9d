import { run } from "graphile-worker";
import { answerCommands } from "../child.ts";
import type { PeerCommands } from "./commands.ts";
import { workerOptions } from "./graphile-worker-options.ts";
import { closeItem, countItems, createOutcomes, type ItemJob, recordItems, serveJobs } from "./job-server.ts";
import { openPool, type PeerPool } from "./store.ts";

/** Connections for inserting events and outcomes. */
const connectionsMax = 16;

let sql: PeerPool;

const commands: PeerCommands = {
  start: async ({ databaseUrl }) => {
    sql = openPool(databaseUrl, connectionsMax);
    await createOutcomes(sql);
    await run({
      taskList: { close: async (payload) => recordItems(sql, [await closeItem(payload as ItemJob)]) },
      crontab: "",
      ...workerOptions(databaseUrl),
    });
    return serveJobs(submit);
  },
  recorded: () => countItems(sql),
};

answerCommands(commands);

async function submit(job: ItemJob): Promise<void> {
  const text = "select (graphile_worker.add_job('close', $1::text::json)).id";
  await sql.unsafe(text, [JSON.stringify(job)], { prepare: true });
}
