import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Pool } from "undici";
import type { PeerPool } from "./store.ts";

/** A job of one step: the item to close, and the address of its app. */
export type ItemJob = { readonly origin: string; readonly itemId: string };

/** Result of the step. */
export type ItemOutcome = { readonly itemId: string; readonly statusCode: number; readonly answer: string };

/** Starts a minimal HTTP server for a job queue. It takes jobs and answers once `submit` has stored them. Resolves with the port. */
export function serveJobs(submit: (job: ItemJob) => Promise<void>): Promise<number> {
  const server = createServer((req, res) => {
    readJson(req)
      .then((job) => submit(job as ItemJob))
      .then(
        () => res.writeHead(200, { "content-type": "application/json" }).end("{}"),
        (error: unknown) => res.writeHead(500).end(String(error)),
      );
  });
  server.keepAliveTimeout = 600_000;
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

async function readJson(req: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString());
}

/** Number of requests that a queue keeps under way. */
const connectionsMax = 32;
const headers = { authorization: "Bearer bench", "content-type": "application/json" };
const body = JSON.stringify({ item: { type: "item_reference", state: "closed" } });
let pool: Pool | undefined;

/** Does a job, with the same request as the server's tool. Throws unless the app answers 200. */
export async function closeItem({ origin, itemId }: ItemJob): Promise<ItemOutcome> {
  pool ??= new Pool(origin, { connections: connectionsMax, pipelining: 1 });
  const response = await pool.request({ method: "PUT", path: `/items/${itemId}`, headers, body });
  const answer = await response.body.text();
  if (response.statusCode !== 200) throw new Error(`the app answered ${response.statusCode}`);
  return { itemId, statusCode: response.statusCode, answer };
}

/** Creates the table of outcomes, with one row for each finished job. */
export async function createOutcomes(sql: PeerPool): Promise<void> {
  await sql`create table outcomes (
    id bigint generated always as identity primary key,
    at timestamptz not null default now(),
    item_id text not null,
    status_code integer not null,
    answer text not null
  )`;
}

/** Records outcomes in one statement. */
export async function recordItems(sql: PeerPool, outcomes: readonly ItemOutcome[]): Promise<void> {
  await sql`insert into outcomes (item_id, status_code, answer) select * from unnest(
    ${outcomes.map(({ itemId }) => itemId)}::text[], ${outcomes.map(({ statusCode }) => statusCode)}::int4[],
    ${outcomes.map(({ answer }) => answer)}::text[])`;
}

/** Returns the number of finished jobs. */
export async function countItems(sql: PeerPool): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int4 as count from outcomes`;
  return row?.count ?? 0;
}
