import { createId, isoTime, systemClock } from "@svc/core";
import postgres from "postgres";
import { answerCommands } from "../child.ts";
import { type PostKind, postKind } from "../post-kinds.ts";
import type { PeerCommands } from "./commands.ts";
import { serveWebhooks } from "./webhook-server.ts";

/** Connections of this peer's pool. */
const connectionsMax = 10;

let sql: postgres.Sql;

const commands: PeerCommands = {
  start: async ({ databaseUrl, post }) => {
    const kind = postKind(post);
    sql = postgres(databaseUrl, { max: connectionsMax });
    await sql`create table events (
      id text primary key, toolkit_slug text not null, trigger_slug text not null, received_at timestamptz not null, payload text not null
    )`;
    return serveWebhooks(kind, (payload) => insertEvent(kind, payload));
  },
  recorded: async () => {
    const [row] = await sql<{ count: number }[]>`select count(*)::int4 as count from events`;
    return row?.count ?? 0;
  },
};

answerCommands(commands);

async function insertEvent(kind: PostKind, payload: string): Promise<void> {
  const now = systemClock.now();
  await sql`insert into events (id, toolkit_slug, trigger_slug, received_at, payload)
    values (${createId("evt", now)}, ${kind.toolkitSlug}, ${kind.triggerSlug}, ${isoTime(now)}, ${payload})`;
}
