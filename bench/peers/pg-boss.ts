import { PgBoss } from "pg-boss";
import { answerCommands } from "../child.ts";
import { type PostKind, postKind } from "../post-kinds.ts";
import type { PeerCommands } from "./commands.ts";
import { createPeerEvent, createSender, type PeerEvent } from "./delivery-message.ts";
import {
  countDelivered,
  createTables,
  eventValues,
  insertEventSql,
  openPool,
  type PeerPool,
  recordOutcomes,
} from "./store.ts";
import { serveWebhooks } from "./webhook-server.ts";

/** Settings of the package, chosen by measurement (docs/concepts/benchmarks/delivering-events.md). */
const workSettings = { localConcurrency: 2, batchSize: 100, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true };

/** Connections for inserting events and outcomes. */
const connectionsMax = 16;

const queue = "deliver";
let sql: PeerPool;

const commands: PeerCommands = {
  start: async ({ databaseUrl, post, endpointUrl, endpointConnections }) => {
    const kind = postKind(post);
    sql = openPool(databaseUrl, connectionsMax);
    await createTables(sql);
    const boss = new PgBoss({ connectionString: databaseUrl, max: workSettings.localConcurrency + 2, schedule: false });
    boss.on("error", (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
    await boss.start();
    await boss.createQueue(queue, { partition: true });
    await startWorkers(boss, createSender(endpointUrl, endpointConnections));
    return serveWebhooks(kind, (payload) => insertEvent(boss, kind, payload));
  },
  recorded: () => countDelivered(sql),
};

answerCommands(commands);

async function startWorkers(boss: PgBoss, send: ReturnType<typeof createSender>): Promise<void> {
  await boss.work<PeerEvent>(queue, workSettings, async (jobs) => {
    const outcomes = await Promise.all(jobs.map(async ({ data }) => ({ eventId: data.id, ...(await send(data)) })));
    await recordOutcomes(sql, outcomes);
  });
}

/**
 * Inserts the event and its job in one statement. pg-boss runs its insert through the given executor, which puts the event's insert in
 * front as a CTE. A transaction with two statements would need two more round trips.
 */
async function insertEvent(boss: PgBoss, kind: PostKind, payload: string): Promise<void> {
  const event = createPeerEvent(kind, payload);
  const executeSql = async (text: string, values: unknown[] = []) => {
    const parameters = [...values.map(String), ...eventValues(kind, event, payload)];
    const statement = `with event as (${insertEventSql(values.length + 1)}) ${text}`;
    return { rows: [...(await sql.unsafe(statement, parameters, { prepare: true }))] };
  };
  await boss.insert(queue, [{ data: event }], { db: { executeSql }, returnId: false });
}
