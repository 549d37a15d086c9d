import { run } from "graphile-worker";
import { answerCommands } from "../child.ts";
import { type PostKind, postKind } from "../post-kinds.ts";
import type { PeerCommands } from "./commands.ts";
import { createPeerEvent, createSender, type PeerEvent } from "./delivery-message.ts";
import { workerOptions } from "./graphile-worker-options.ts";
import {
  countDelivered,
  createTables,
  eventValues,
  insertEventSql,
  openPool,
  type PeerPool,
  recordOutcome,
} from "./store.ts";
import { serveWebhooks } from "./webhook-server.ts";

/** Connections for inserting events and outcomes. */
const connectionsMax = 16;

let sql: PeerPool;

const commands: PeerCommands = {
  start: async ({ databaseUrl, post, endpointUrl, endpointConnections }) => {
    const kind = postKind(post);
    sql = openPool(databaseUrl, connectionsMax);
    await createTables(sql);
    await startWorker(databaseUrl, createSender(endpointUrl, endpointConnections));
    return serveWebhooks(kind, (payload) => insertEvent(kind, payload));
  },
  recorded: () => countDelivered(sql),
};

answerCommands(commands);

async function startWorker(databaseUrl: string, send: ReturnType<typeof createSender>): Promise<void> {
  await run({
    taskList: {
      deliver: async (payload) => {
        const event = payload as PeerEvent;
        await recordOutcome(sql, event.id, await send(event));
      },
    },
    crontab: "",
    ...workerOptions(databaseUrl),
  });
}

/** Inserts the event and its job in one statement, so that one never exists without the other. */
async function insertEvent(kind: PostKind, payload: string): Promise<void> {
  const event = createPeerEvent(kind, payload);
  const text = `with event as (${insertEventSql(2)}) select (graphile_worker.add_job('deliver', $1::text::json)).id`;
  await sql.unsafe(text, [JSON.stringify(event), ...eventValues(kind, event, payload)], { prepare: true });
}
