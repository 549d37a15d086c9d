import { Logger, run } from "graphile-worker";
import type { Pool } from "pg";
import { answerCommands } from "../child.ts";
import { type PostKind, postKind } from "../post-kinds.ts";
import { createPeerEvent, createSender, type PeerEvent } from "./delivery-message.ts";
import type { PeerCommands } from "./setup.ts";
import { countDelivered, createTables, openPool, recordOutcome } from "./store.ts";
import { serveWebhooks } from "./webhook-server.ts";

/** The settings this peer runs with, chosen by measurement (docs/benchmarks.md). */
export const graphileWorkerSettings = {
  concurrentJobs: 32,
  maxPoolSize: 40,
  // The delay has notifications ignored while work is found anyway; without it every new job is a fetch of its own.
  localQueue: { size: 500, refetchDelay: { durationMs: 100, threshold: 0, maxAbortThreshold: 500 } },
  completeJobBatchDelay: 100,
} as const;

let pool: Pool;

const commands: PeerCommands = {
  start: async ({ databaseUrl, post, endpointUrl, endpointConnections }) => {
    const kind = postKind(post);
    pool = openPool(databaseUrl, graphileWorkerSettings.maxPoolSize);
    await createTables(pool);
    await startWorker(databaseUrl, createSender(endpointUrl, endpointConnections));
    return serveWebhooks(kind, (payload) => insertEvent(kind, payload));
  },
  recorded: () => countDelivered(pool),
};

answerCommands(commands);

async function startWorker(databaseUrl: string, send: ReturnType<typeof createSender>): Promise<void> {
  await run({
    taskList: {
      deliver: async (payload) => {
        const event = payload as PeerEvent;
        await recordOutcome(pool, event.id, await send(event));
      },
    },
    crontab: "",
    noHandleSignals: true,
    logger: new Logger(() => (level, message) => {
      if (level === "error") process.stderr.write(`graphile-worker: ${message}\n`);
    }),
    preset: { worker: { connectionString: databaseUrl, ...graphileWorkerSettings } },
  });
}

/** The event and its job in one statement, so that neither is there without the other. */
async function insertEvent(kind: PostKind, payload: string): Promise<void> {
  const event = createPeerEvent(kind, payload);
  await pool.query({
    name: "insert_event",
    text: `with event as (
        insert into events (id, toolkit_slug, trigger_slug, received_at, payload) values ($1, $2, $3, $4, $5)
      )
      select (graphile_worker.add_job('deliver', $6::json)).id`,
    values: [event.id, kind.toolkitSlug, kind.triggerSlug, event.receivedAt, payload, JSON.stringify(event)],
  });
}
