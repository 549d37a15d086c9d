import { createId, type EventId, firstUuidAt, type ProjectId, uuidOfId } from "@svc/core";
import { type Executor, openDatabase, withTransaction } from "@svc/db/connect";
import { recordEvents } from "@svc/db/events/record";
import { noteRestore } from "@svc/db/restores/repo";
import { dropTestDatabases } from "@svc/testing/borrowed-database";
import { until } from "@svc/testing/until";
import { afterAll, expect, test } from "vitest";
import { createFilters } from "../filters/filters.ts";
import { createRouting } from "../routing.ts";
import { storePosts } from "../store.ts";
import { createTestCluster, createTestNode, sampleCatalog, type TestCluster } from "../test-node.ts";
import { issuePost, paymentPost } from "../test-posts.ts";
import { createEventPolls } from "./polls.ts";
import { type CursorScope, type EventPosition, openCursor, positionAt, sealCursor } from "./position.ts";

afterAll(dropTestDatabases);

const day = 86_400_000;
const slug = "code_host.issue_opened";
const everything = { toolkitSlug: "", triggerSlugs: [], entityId: "", readableToolkits: [] };
const never = new AbortController().signal;

const turns = { next: async () => {} };

function pollsOf({ db, clock }: TestCluster) {
  return createEventPolls({ db, clock, filters: createFilters({ db, turns }), eventRetentionMs: 30 * day });
}

/** Stores an event whose id has the time `atMs`. */
async function record(db: Executor, projectId: ProjectId, atMs: number, fields: object = {}): Promise<EventId> {
  const id = createId("evt", atMs);
  const event = {
    ...({ id, projectId, kind: "event", toolkitSlug: "code_host", triggerSlug: slug, entityId: "" } as const),
    ...{ payload: "{}", occurredAtMs: atMs, receivedAtMs: atMs, dedupeKey: "", deliveries: [], ...fields },
  };
  await recordEvents(db, [event], undefined, { owner: createId("node", 0), untilMs: 0 });
  return id;
}

/** Reads to the end of the events. After each page, the cursor is encrypted and decrypted, as for a client. */
async function drain(cluster: TestCluster, scope: CursorScope, from: EventPosition, max = 100) {
  const polls = pollsOf(cluster);
  const ids: string[] = [];
  let isTruncated = false;
  let position: EventPosition | undefined = from;
  for (let more = true; more; ) {
    if (position === undefined) throw new Error("a cursor could not be opened");
    const page = await polls.poll(scope, { position, max, waitMs: 0, signal: never });
    ids.push(...page.events.map(({ id }) => id));
    isTruncated ||= page.truncated;
    more = page.hasMore;
    position = openCursor(cluster.sealer, scope, sealCursor(cluster.sealer, scope, page.position));
  }
  if (position === undefined) throw new Error("a cursor could not be opened");
  return { ids, position, isTruncated };
}

test("12 writers with open transactions, rollbacks and killed connections: a poll returns what the store holds, each once", async () => {
  await using cluster = await createTestCluster();
  const { db, clock } = cluster;
  const projectId = await cluster.project();
  const scope = { projectId, events: everything };
  const { host, port, user, pass, database } = db.sql.options;
  const url = `postgres://${user}:${encodeURIComponent(String(pass ?? ""))}@${host[0]}:${port[0]}/${database}`;
  const writing = openDatabase({ url, connectionsMax: 14 });
  let looks = 0;
  let writers = 12;
  /** Times of ids that are not stored yet. The clock waits for them, because an id is new when it is stored. */
  const young = new Set<number>();
  const lookAfter = (count: number) => {
    const from = looks;
    return until(() => looks >= from + count, "further looks");
  };
  const recordYoung = async (on: Executor) => {
    const atMs = clock.now() - Math.floor(Math.random() * 1_000);
    young.add(atMs);
    await record(on, projectId, atMs).finally(() => young.delete(atMs));
  };
  const write = async (writer: number) => {
    for (let round = 0; round < 6; round++) {
      const kind = (writer + round) % 4;
      if (kind === 0) await recordYoung(writing);
      else
        await withTransaction(writing, async (tx) => {
          await recordYoung(tx);
          await lookAfter(kind);
          await recordYoung(tx);
          if (kind === 2) throw new Error("rolled back");
          if (kind === 3 && round > 2) await tx.sql`select pg_terminate_backend(pg_backend_pid())`;
        }).catch(() => {});
    }
    writers--;
  };
  const start = await pollsOf(cluster).now(scope);
  const written = Promise.all(Array.from({ length: 12 }, (_, writer) => write(writer)));
  const polled: string[] = [];
  let at = start;
  while (writers > 0) {
    const { ids, position } = await drain(cluster, scope, at, 3);
    polled.push(...ids);
    at = position;
    looks++;
    if (clock.now() - Math.min(...young, clock.now()) < 5_000) clock.advance(4_000);
  }
  await written;
  const last = await drain(cluster, scope, at);
  polled.push(...last.ids);
  await writing.close();
  const stored = await db.sql<{ id: string }[]>`select id::text from events where project_id = ${uuidOfId(projectId)}`;
  expect(stored.length).toBeGreaterThan(60);
  expect(polled.map((id) => uuidOfId(id as EventId)).toSorted()).toEqual(stored.map(({ id }) => id).toSorted());
  // The start of the position moves forward, so that each search scans few events.
  expect(last.position.fromUuid > start.fromUuid).toBe(true);
});

test("after a restore a cursor is read by id from its start, also within a look: events may repeat, none is missed", async () => {
  await using cluster = await createTestCluster();
  const { db, clock } = cluster;
  const projectId = await cluster.project();
  const scope = { projectId, events: everything };
  const polls = pollsOf(cluster);
  const start = await polls.now(scope);
  const before = [await record(db, projectId, clock.now()), await record(db, projectId, clock.now() + 1)];
  const poll = (position: EventPosition, max: number) => polls.poll(scope, { position, max, waitMs: 0, signal: never });
  const [whole, begun] = [await poll(start, 10), await poll(start, 1)];
  expect([whole.events.length, begun.events.length, begun.hasMore]).toEqual([2, 1, true]);
  await noteRestore(db, { key: "r1", backupEndsAt: clock.now() }, clock.now());
  const after = await record(db, projectId, clock.now() + 2);
  for (const { position } of [whole, begun]) {
    const { ids, position: next } = await drain(cluster, scope, position);
    expect(ids).toEqual([...before, after]);
    expect((await drain(cluster, scope, next)).ids).toEqual([]);
  }
  await db.sql`delete from restores`;
});

test("PollEvents begins now or at since, filters, pages by number and size, and refuses a cursor of other filters", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster);
  const { db, clock } = cluster;
  const projectId = await cluster.project();
  const { pollEvents, listEvents } = node.client(projectId);
  const now = await pollEvents({});
  expect(now).toMatchObject({ events: [], hasMore: false, truncated: false });
  for (let n = 0; n < 3; n++) {
    await node.ingest.accept(issuePost({ delivery: `d${n}` }));
    await node.ingest.accept(paymentPost({ id: `p${n}` }));
    clock.advance(1_000);
  }
  const listed = (await listEvents({ pageSize: 100 })).events.reverse();
  const idsOf = ({ events }: { events: { id: string }[] }) => events.map(({ id }) => id);
  const since = { seconds: BigInt(Math.floor(clock.now() / 1_000) - 60), nanos: 0 };
  expect((await pollEvents({ since })).events).toEqual(listed);
  expect((await pollEvents({ cursor: now.cursor })).events).toEqual(listed);
  const first = await pollEvents({ since, maxEvents: 4 });
  const second = await pollEvents({ cursor: first.cursor, maxEvents: 4 });
  expect([first.hasMore, second.hasMore]).toEqual([true, false]);
  expect([...idsOf(first), ...idsOf(second)]).toEqual(listed.map(({ id }) => id));
  const ofPayments = { toolkitSlug: "payments", triggerSlugs: ["payment_changed"] };
  const payments = await pollEvents({ since, ...ofPayments });
  expect(idsOf(payments)).toEqual(idsOf({ events: listed.filter(({ toolkitSlug }) => toolkitSlug === "payments") }));
  expect(idsOf(await pollEvents({ since, triggerSlugs: ["payments.payment_changed", slug] }))).toHaveLength(6);
  expect(idsOf(await pollEvents({ since, entityId: "ada" }))).toEqual([]);
  await expect(pollEvents({ cursor: payments.cursor })).rejects.toThrow(/is not a cursor of this call/);
  const large = { payload: JSON.stringify("x".repeat(700_000)) };
  const three = [0, 1, 2].map((n) => record(db, projectId, clock.now() + n, large));
  const ids = await Promise.all(three);
  const pages: string[][] = [];
  for (let cursor = second.cursor, more = true; more; ) {
    const page = await pollEvents({ cursor });
    pages.push(idsOf(page));
    [cursor, more] = [page.cursor, page.hasMore];
  }
  expect(pages).toEqual(ids.map((id) => [id]));
  clock.advance(31 * day);
  expect(await pollEvents({ cursor: second.cursor })).toMatchObject({ events: [], truncated: true });
});

test("a held poll is answered with the first event; a node holds 200, and answers more at once", async () => {
  await using cluster = await createTestCluster();
  const { db, clock } = cluster;
  const projectId = await cluster.project();
  const scope = { projectId, events: everything };
  const outcomes: string[] = [];
  const observed = { onPolled: ({ outcome }: { outcome: string }) => void outcomes.push(outcome) };
  const polls = createEventPolls({
    db,
    clock,
    filters: createFilters({ db, turns }),
    eventRetentionMs: 30 * day,
    ...observed,
  });
  const start = positionAt(clock.now());
  const hold = (signal: AbortSignal) => polls.poll(scope, { position: start, max: 10, waitMs: 20_000, signal });
  const gone = new AbortController();
  const held = [hold(never), ...Array.from({ length: 199 }, () => hold(gone.signal))];
  await until(() => clock.waiting() === 200, "200 held polls");
  expect(await hold(never)).toMatchObject({ events: [], isHeld: false });
  gone.abort();
  await Promise.all(held.slice(1));
  const id = await record(db, projectId, clock.now());
  clock.advance(1_000);
  expect((await held[0])?.events.map((event) => event.id)).toEqual([id]);
  expect([outcomes[0], outcomes.at(-1)]).toEqual(["unheld", "events"]);
});

test("the path that stores events uses no savepoints, and nothing changes an event while it is new", async () => {
  await using cluster = await createTestCluster();
  const { db } = cluster;
  await using node = createTestNode(cluster, { isStarted: true });
  const projectId = await cluster.project();
  await db.sql.unsafe(`create function check_events() returns trigger language plpgsql as $$ begin
      if tg_op = 'UPDATE' then raise 'an event was changed'; end if;
      if (select xmin::text from events where project_id = new.project_id and id = new.id) <> (pg_current_xact_id()::text::int8 % 4294967296)::text
        then raise 'an event was stored in a savepoint'; end if;
      return null; end $$;
    create trigger check_events after insert or update on events for each row execute function check_events();`);
  try {
    await expect(
      withTransaction(db, async (tx) => {
        await tx.sql`savepoint one`;
        await record(tx, projectId, 0);
      }),
    ).rejects.toThrow("stored in a savepoint");
    const { createSubscription, replayEvent, sendTestEvent, listEvents } = node.client(projectId);
    const { subscription } = await createSubscription({ endpointUrl: "http://127.0.0.1:1/" });
    // The posts need three statements in one transaction, because their payloads are large.
    const title = "x".repeat(600_000);
    const posts = ["a", "b", "c"].map((delivery) => node.ingest.accept(issuePost({ title, delivery })));
    expect((await Promise.all(posts)).map(({ outcome }) => outcome)).toEqual(["accepted", "accepted", "accepted"]);
    const { events } = await listEvents({});
    expect(events).toHaveLength(3);
    await sendTestEvent({ subscriptionId: subscription?.id ?? "" });
    await replayEvent({ eventId: events[0]?.id ?? "" });
    await until(async () => {
      const [row] = await db.sql`select count(*)::int4 as count from deliveries where attempts > 0`;
      return row?.["count"] > 0;
    }, "an attempt");
  } finally {
    await db.sql.unsafe("drop trigger check_events on events; drop function check_events");
  }
});

test("an event that waited longer than a second gets an id of the present; a younger one keeps its own", async () => {
  await using cluster = await createTestCluster();
  await using node = createTestNode(cluster, { catalog: sampleCatalog() });
  const { db, clock } = cluster;
  await cluster.project();
  const filters = createFilters({ db, turns });
  const options = { clock, nodeId: node.nodeId, filters, routing: createRouting(), dispatcher: node.dispatcher };
  const nowMs = clock.now();
  const post = (receivedAtMs: number) => ({
    ...({ toolkitSlug: "code_host", triggerSlug: slug, audience: "projects", account: "" } as const),
    ...{ payload: "{}", dedupe: "", occurredAtMs: 1_000, receivedAtMs },
  });
  await storePosts(options, db, [post(nowMs - 1_000), post(nowMs - 1_001)]);
  const rows = await db.sql<{ id: string; received: string }[]>`select id::text, received_at as received from events`;
  expect(rows.map(({ received }) => Date.parse(received)).toSorted()).toEqual([nowMs - 1_000, nowMs]);
  expect(rows.every(({ id }) => id >= firstUuidAt(nowMs - 1_000))).toBe(true);
});
