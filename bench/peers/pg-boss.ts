import type { Pool } from "pg";
import { PgBoss } from "pg-boss";
import { answerCommands } from "../child.ts";
import { type PostKind, postKind } from "../post-kinds.ts";
import { createPeerEvent, createSender, type PeerEvent } from "./delivery-message.ts";
import type { PeerCommands } from "./setup.ts";
import { countDelivered, createTables, openPool, recordOutcomes } from "./store.ts";
import { serveWebhooks } from "./webhook-server.ts";

/** The settings this peer runs with, chosen by measurement (docs/benchmarks.md). */
export const pgBossSettings = {
  localConcurrency: 2,
  batchSize: 100,
  pollingIntervalSeconds: 0.5,
  burstWhenBatchFull: true,
  connectionsMax: 16,
} as const;

const queue = "deliver";
let pool: Pool;

const commands: PeerCommands = {
  start: async ({ databaseUrl, post, endpointUrl, endpointConnections }) => {
    const kind = postKind(post);
    pool = openPool(databaseUrl, pgBossSettings.connectionsMax);
    await createTables(pool);
    const boss = new PgBoss({ connectionString: databaseUrl, max: pgBossSettings.localConcurrency + 2, schedule: false });
    boss.on("error", (error) => process.stderr.write(`pg-boss: ${error.message}\n`));
    await boss.start();
    await boss.createQueue(queue, { partition: true });
    await startWorkers(boss, createSender(endpointUrl, endpointConnections));
    return serveWebhooks(kind, (payload) => insertEvent(boss, kind, payload));
  },
  recorded: () => countDelivered(pool),
};

answerCommands(commands);

async function startWorkers(boss: PgBoss, send: ReturnType<typeof createSender>): Promise<void> {
  const { localConcurrency, batchSize, pollingIntervalSeconds, burstWhenBatchFull } = pgBossSettings;
  await boss.work<PeerEvent>(queue, { localConcurrency, batchSize, pollingIntervalSeconds, burstWhenBatchFull }, async (jobs) => {
    const outcomes = await Promise.all(jobs.map(async ({ data }) => ({ eventId: data.id, ...(await send(data)) })));
    await recordOutcomes(pool, outcomes);
  });
}

/**
 * The event and its job in one statement: pg-boss runs its insert through the given connection, and the event's insert
 * stands in front of it as a CTE. A transaction around two statements would cost two more round trips.
 */
async function insertEvent(boss: PgBoss, kind: PostKind, payload: string): Promise<void> {
  const event = createPeerEvent(kind, payload);
  const executeSql = async (text: string, values: unknown[] = []) => {
    const places = Array.from({ length: 5 }, (_, index) => `$${values.length + 1 + index}`).join(", ");
    return await pool.query({
      name: "insert_event",
      text: `with event as (insert into events (id, toolkit_slug, trigger_slug, received_at, payload) values (${places})) ${text}`,
      values: [...values, event.id, kind.toolkitSlug, kind.triggerSlug, event.receivedAt, payload],
    });
  };
  await boss.insert(queue, [{ data: event }], { db: { executeSql }, returnId: false });
}
