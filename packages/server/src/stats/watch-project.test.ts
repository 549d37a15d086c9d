import { create } from "@bufbuild/protobuf";
import { createContextValues, type HandlerContext } from "@connectrpc/connect";
import { createId, principalContext, systemClock } from "@svc/core";
import { NoticeKind, WatchProjectRequestSchema, type WatchProjectResponse } from "@svc/gen/stats";
import { createTestClock } from "@svc/testing/clock";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { until } from "@svc/testing/until";
import { afterAll, beforeAll, expect, test } from "vitest";
import { watchProject } from "./watch-project.ts";
import { bounded, createWatches, type Listener, type Watches } from "./watches.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const projectId = createId("prj", systemClock.now());
const everything = create(WatchProjectRequestSchema, {});

/** Returns a call context of the project's key. */
function callerOf(project: typeof projectId): HandlerContext {
  const quotas = {};
  const principal = { kind: "project", projectId: project, keyId: createId("key", 0), role: "member", quotas } as const;
  const values = createContextValues().set(principalContext, principal);
  return { values, signal: new AbortController().signal } as HandlerContext;
}

/** Returns watches of projects whose rounds the test controls. */
function testWatches(): { watches: Watches; receive: Listener["receive"] } {
  const listeners = new Set<Listener>();
  return {
    watches: {
      join(_, listener) {
        listeners.add(listener);
        return { leave: () => void listeners.delete(listener) };
      },
    },
    receive: (notices) => {
      for (const listener of listeners) listener.receive(notices);
    },
  };
}

const noticesOf = ({ value }: IteratorResult<WatchProjectResponse>) => {
  const notice = value?.notice;
  return notice && { kind: notice.kind, gap: notice.gap };
};

test("a project has 100 watches at a node: the next is refused until one of them ends, and others have their own", async () => {
  const { db } = database;
  const clock = createTestClock();
  const watches = createWatches({ db, clock });
  const joined = Array.from({ length: 100 }, () => watches.join(projectId, { receive: () => {}, fail: () => {} }));
  const begin = (project: typeof projectId) => watchProject({ db, clock, watches }, everything, callerOf(project));
  await expect(begin(projectId).next()).rejects.toMatchObject({ details: [{ reason: "WATCHERS_TOO_MANY" }] });
  const elsewhere = begin(createId("prj", systemClock.now()));
  expect(noticesOf(await elsewhere.next())).toBeUndefined();
  joined.pop()?.leave();
  const here = begin(projectId);
  expect(noticesOf(await here.next())).toBeUndefined();
  await Promise.all([elsewhere.return(undefined), here.return(undefined)]);
  for (const { leave } of joined) leave();
});

test("a caller without news gets an empty message every 20 s", async () => {
  const clock = createTestClock();
  const { watches, receive } = testWatches();
  const stream = watchProject({ db: database.db, clock, watches }, everything, callerOf(projectId));
  await stream.next();
  const next = stream.next();
  let hasCome = false;
  void next.then(() => {
    hasCome = true;
  });
  await until(() => clock.waiting() === 1);
  clock.advance(19_000);
  // A round without changes also counts as silence.
  receive({ rows: [], gaps: [], atMs: clock.now() });
  await until(() => clock.waiting() === 1);
  expect(hasCome).toBe(false);
  clock.advance(1_000);
  expect(noticesOf(await next)).toBeUndefined();
  await stream.return(undefined);
});

test("a caller who does not read gets a gap instead of the waiting rounds, then the later ones", async () => {
  const clock = createTestClock();
  const { watches, receive } = testWatches();
  const kinds = [NoticeKind.CALL, NoticeKind.JOB];
  const request = create(WatchProjectRequestSchema, { kinds });
  const stream = watchProject({ db: database.db, clock, watches }, request, callerOf(projectId));
  await stream.next();
  const row = () =>
    ({ kind: "job", id: createId("job", clock.now()), state: "running", turn: 1, isFinal: false }) as const;
  for (let round = 0; round < 31; round += 1) receive({ rows: [row()], gaps: [], atMs: clock.now() });
  const notices = [await stream.next(), await stream.next(), await stream.next()].map(noticesOf);
  expect(notices).toEqual([
    { kind: NoticeKind.CALL, gap: true },
    { kind: NoticeKind.JOB, gap: true },
    { kind: NoticeKind.JOB, gap: false },
  ]);
  await stream.return(undefined);
});

test("with more than 200 rows of a kind at once, the newest are sent with a gap", () => {
  const rows = Array.from({ length: 201 }, (_, n) => {
    return { kind: "call", id: createId("call", 1_000 + n), state: "ok", turn: 0, isFinal: true } as const;
  });
  const notices = bounded(rows);
  expect(notices.gaps).toEqual(["call"]);
  expect(notices.rows.map(({ id }) => id)).toEqual(rows.slice(1).map(({ id }) => id));
  expect(bounded(rows.slice(1)).gaps).toEqual([]);
});
