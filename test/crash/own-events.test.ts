import { setTimeout as wait } from "node:timers/promises";
import { openDatabase } from "@svc/db/connect";
import { createTestDatabase } from "@svc/testing/database";
import { endLeases } from "@svc/testing/leases";
import { call, freePort, type ServerProcess, startServerProcess, until, vaultKey } from "@svc/testing/server-process";
import { fewToolkits } from "@svc/testing/shipped-catalog";
import { type Subscriber, startSubscriber } from "@svc/testing/subscriber";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { afterEach, expect, test } from "vitest";

// Three nodes on one store die one after the other while a project publishes events, polls them, pauses and changes a signing secret. A
// call without an answer is repeated, as a client would.

const isWhole = process.env["SVC_CRASH_ROUNDS"] !== undefined;
const rounds = 5 * Number(process.env["SVC_CRASH_ROUNDS"] ?? 1);
const batchSize = 20;
const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

type Nodes = {
  /** Makes a call at any node, and repeats it until a node answers. */
  ask<Answer>(method: string, body: object): Promise<Answer>;
  /** Kills the next node in turn and starts it again. */
  killNext(): Promise<void>;
};

async function startNodes(databaseUrl: string): Promise<Nodes> {
  const env = { SVC_TOOLKITS: fewToolkits, SVC_DATABASE_URL: databaseUrl, SVC_VAULT_KEY: vaultKey() };
  const ports = [await freePort(), await freePort(), await freePort()];
  const start = (port: number) => startServerProcess({ ...env, SVC_PORT: String(port) });
  const nodes: ServerProcess[] = [];
  for (const port of ports) nodes.push(await start(port));
  cleanups.push(() => Promise.all(nodes.map((node) => node.end("SIGKILL"))));
  let asked = 0;
  let killed = 0;
  return {
    async ask(method, body) {
      for (let tries = 0; ; tries++) {
        const url = `http://127.0.0.1:${ports[asked++ % ports.length]}`;
        try {
          return await call({ url }, method, body);
        } catch (error) {
          // If the node is dead or ends, another node is tried. Any other error fails the test.
          if (tries > 200 || / (?:4\d\d|500) /.test(String(error))) throw error;
          await wait(20);
        }
      }
    },
    async killNext() {
      const place = killed++ % nodes.length;
      const [node, port] = [nodes[place], ports[place]];
      if (node === undefined || port === undefined) throw new Error("no node to kill");
      await wait(Math.random() * 300);
      await node.end("SIGKILL");
      nodes[place] = await start(port);
    },
  };
}

type Result = { readonly eventId: string; readonly outcome: string };

/** The acknowledged events by their keys, and the number of events after which the publishers wait. */
type Published = { readonly ids: Map<string, string>; most: number };

/**
 * Publishes batches of events with idempotency keys until it is stopped. It waits at `published.most`: on a slow machine there would otherwise
 * be more events than a paused subscription can catch up with in the time of the test.
 */
async function publishUntil(signal: AbortSignal, nodes: Nodes, name: string, published: Published): Promise<void> {
  const { ids } = published;
  for (let batch = 0; !signal.aborted; batch++) {
    while (ids.size >= published.most && !signal.aborted) await wait(5);
    const keys = Array.from({ length: batchSize }, (_, index) => `${name}-${batch}-${index}`);
    const events = keys.map((key) => ({ type: "order.made", key, payloadJson: JSON.stringify({ key }) }));
    const { results } = await nodes.ask<{ results: Result[] }>("TriggersService/PublishEvents", { events });
    for (const [index, key] of keys.entries()) ids.set(key, results[index]?.eventId ?? "");
  }
}

/** Polls until it is stopped and no more events come. The cursor moves only with an answer. `seen`: how often each event came. */
async function pollUntil(signal: AbortSignal, nodes: Nodes, since: string, seen: Map<string, number>): Promise<void> {
  let cursor = "";
  for (let isLast = false; !isLast; ) {
    const isStopped = signal.aborted;
    const request = { toolkitSlug: "events", maxEvents: 500, ...(cursor === "" ? { since } : { cursor }) };
    const answer = await nodes.ask<{ events?: { id: string }[]; cursor: string }>(
      "TriggersService/PollEvents",
      request,
    );
    for (const { id } of answer.events ?? []) seen.set(id, (seen.get(id) ?? 0) + 1);
    isLast = isStopped && (answer.events ?? []).length === 0;
    cursor = answer.cursor;
    await wait(20);
  }
}

/** Returns the keys of the events that a receiver got, taken from their payloads. */
const keysOf = ({ received }: Subscriber) =>
  new Set(received.map(({ body }) => (JSON.parse(body) as { data: { key: string } }).data.key));

test("nodes that die lose no published event, no polled one, and none of a pause or a rotation", {
  timeout: 600_000,
}, async () => {
  const database = await createTestDatabase();
  cleanups.push(() => database.drop());
  const [steady, paused] = [await startSubscriber(), await startSubscriber()];
  cleanups.push(() => steady.close());
  cleanups.push(() => paused.close());
  const nodes = await startNodes(database.url);
  const since = new Date().toISOString();
  await nodes.ask("TriggersService/PutEventType", { name: "order.made" });
  const subscribe = ({ url: endpointUrl }: Subscriber) =>
    nodes.ask<{ subscription: { id: string }; signingSecret: string }>("TriggersService/CreateSubscription", {
      ...{ endpointUrl, toolkitSlug: "events", format: { kind: "standard" } },
    });
  const [first, second] = [await subscribe(steady), await subscribe(paused)];
  let secret = first.signingSecret;
  const unverified: unknown[] = [];
  steady.answer = ({ headers, body }, res) => {
    try {
      new Webhook(secret).verify(body, headers as Record<string, string>);
    } catch (error) {
      unverified.push(error instanceof WebhookVerificationError ? error.message : error);
    }
    res.writeHead(204).end();
  };
  const [stop, stopPolls] = [new AbortController(), new AbortController()];
  const ids = new Map<string, string>();
  const published: Published = { ids, most: 0 };
  const seen = new Map<string, number>();
  const names = ["a", "b", "c", "d"];
  const publishing = Promise.all(names.map((name) => publishUntil(stop.signal, nodes, name, published)));
  const polling = pollUntil(stopPolls.signal, nodes, since, seen);
  for (let round = 0; round < rounds; round++) {
    const before = ids.size;
    published.most = before + 40 * batchSize;
    const changed = `whsec_${Buffer.from(`secret of round ${round}`.padEnd(32, "-")).toString("base64")}`;
    const isPaused = round % 2 === 0;
    const acts = Promise.all([
      nodes.ask("TriggersService/UpdateSubscription", { id: second.subscription.id, paused: isPaused }),
      nodes.ask("TriggersService/RotateSubscriptionSecret", {
        id: first.subscription.id,
        secret: changed,
        overlap: "3600s",
      }),
    ]);
    await nodes.killNext();
    await acts;
    secret = changed;
    await until(() => ids.size >= before + 3 * batchSize, 60_000, `publishing in round ${round}`);
  }
  await nodes.ask("TriggersService/UpdateSubscription", { id: second.subscription.id, paused: false });
  stop.abort();
  await publishing;
  stopPolls.abort();
  await polling;
  if (!isWhole) await endLeases(database.url, "delivery_tasks");
  expect(ids.size).toBeGreaterThan(rounds * 3 * batchSize);
  expect(new Set(ids.values()).size).toBe(ids.size);
  const lacks = (receiver: Subscriber) => {
    const received = keysOf(receiver);
    return [...ids.keys()].filter((key) => !received.has(key));
  };
  await until(() => lacks(steady).length + lacks(paused).length === 0, 120_000, "every delivery");
  expect(unverified).toEqual([]);
  // Each event came once, even if its publisher never got an answer.
  expect([...seen].filter(([, times]) => times !== 1)).toEqual([]);
  const db = openDatabase({ url: database.url, connectionsMax: 1 });
  cleanups.push(() => db.close());
  const [counts] = await db.sql<{ events: number; pairs: number; twice: number }[]>`
    select (select count(*)::int4 from events) as events, count(distinct (event_id, subscription_id))::int4 as pairs,
      (select count(*)::int4 from (select from events group by dedupe_key having count(*) > 1)) as twice from deliveries`;
  expect(counts).toEqual({ events: seen.size, pairs: 2 * seen.size, twice: 0 });
  const [key = "", id] = [...ids][0] ?? [];
  const again = { type: "order.made", key, payloadJson: "{}" };
  const repeated = await nodes.ask<Result>("TriggersService/PublishEvent", again);
  expect(repeated).toMatchObject({ outcome: "PUBLISH_OUTCOME_DUPLICATE", eventId: id });
});
