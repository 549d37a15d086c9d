import { createId, type ProjectId } from "@svc/core";
import { sweepCallPaces } from "@svc/db/call-limits/repo";
import type { Database } from "@svc/db/connect";
import { createTestClock, type TestClock } from "@svc/testing/clock";
import { createTestDatabase } from "@svc/testing/database";
import { until, untilMoved } from "@svc/testing/until";
import { afterAll, beforeEach, expect, test } from "vitest";
import { addProject } from "../call/test-node.ts";
import type { RuledKey } from "./limiters.ts";
import { leaseMs, type PaceRules } from "./pace.ts";
import { type EntryOutcome, Pacer } from "./pacer.ts";

const { db, drop } = await createTestDatabase();
afterAll(drop);

let clock: TestClock;
let projectId: ProjectId;
beforeEach(async () => {
  clock = createTestClock();
  projectId = await addProject(db);
});

const pacerOf = (database: Database = db) => new Pacer({ db: database, clock, nodeId: createId("node", clock.now()) });
const keyOf = (rules: Partial<PaceRules>, key = "k", limitName = "l"): RuledKey => ({
  projectId,
  limitName,
  key,
  rules: { concurrency: 0, rate: undefined, isPaused: false, ...rules },
});
const atOnce = { waitMs: 0, jobId: undefined };
const patient = { waitMs: 2_000, jobId: undefined };

type Entered = Extract<EntryOutcome, { kind: "entered" }>;

function entered(entering: EntryOutcome): Entered {
  if (entering.kind !== "entered") throw new Error(`${entering.by.limitName} is full`);
  return entering;
}

async function full(asked: Promise<EntryOutcome>) {
  const entering = await asked;
  if (entering.kind !== "full") throw new Error("it was let go");
  return entering;
}

/** Moves the clock forward in small steps until the condition is true. `mayPass`: the clock does not move while it returns false. */
async function passing(holds: () => boolean, stepMs = 10, mayPass = () => true): Promise<void> {
  await untilMoved(() => {
    if (holds()) return true;
    if (mayPass()) clock.advance(stepMs);
    return false;
  });
}

test("nodes together run as many calls at once as the limit allows, and one more when one has ended", async () => {
  const [a, b] = [pacerOf(), pacerOf()];
  const key = keyOf({ concurrency: 3 });
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => (n % 2 === 0 ? a : b).enter([key], atOnce)));
  const going = answers.flatMap((answer) => (answer.kind === "entered" ? [answer] : []));
  expect(going).toHaveLength(3);
  const waiting = b.enter([key], patient);
  entered(going[0] as EntryOutcome).leave();
  let isIn = false;
  void waiting.then(({ kind }) => {
    isIn = kind === "entered";
  });
  await passing(() => isIn);
  entered(await waiting).leave();
  for (const one of going) one.leave();
  await Promise.all([a.close(), b.close()]);
});

test("a call without a slot during its wait is refused, with a retry time", async () => {
  const pacer = pacerOf();
  const key = keyOf({ concurrency: 1 });
  const first = entered(await pacer.enter([key], patient));
  const startedMs = clock.now();
  let refused: EntryOutcome | undefined;
  void pacer.enter([key], patient).then((entering) => {
    refused = entering;
  });
  await passing(() => refused !== undefined, 100);
  expect(clock.now() - startedMs).toBeGreaterThanOrEqual(2_000);
  expect(refused).toMatchObject({ kind: "full", by: { limitName: "l" }, isPaused: false, retryAfterMs: 1_000 });
  first.leave();
  await pacer.close();
});

test("waiting calls start in order of arrival", async () => {
  const pacer = pacerOf();
  const key = keyOf({ concurrency: 1 });
  let holder = entered(await pacer.enter([key], patient));
  const order: number[] = [];
  const waiting = [1, 2, 3].map((number) =>
    pacer.enter([key], patient).then((entering) => {
      order.push(number);
      return entered(entering);
    }),
  );
  const late = await pacer.enter([key], atOnce);
  expect(late.kind).toBe("full");
  for (const [index, next] of waiting.entries()) {
    holder.leave();
    await passing(() => order.length > index);
    holder = await next;
  }
  expect(order).toEqual([1, 2, 3]);
  holder.leave();
  await pacer.close();
});

test("sixty-four calls wait for a limiter key on a node; one more is refused at once", async () => {
  const pacer = pacerOf();
  const key = keyOf({ concurrency: 1 });
  const holder = entered(await pacer.enter([key], patient));
  const waiting = Array.from({ length: 64 }, () => pacer.enter([key], patient));
  expect((await pacer.enter([key], patient)).kind).toBe("full");
  holder.leave();
  let ended = 0;
  for (const one of waiting) {
    void one.then((entering) => {
      ended++;
      if (entering.kind === "entered") entering.leave();
    });
  }
  await passing(() => ended === 64);
  await pacer.close();
});

test("a rate starts its calls at once, and more when the period has passed, on all nodes", async () => {
  const [a, b] = [pacerOf(), pacerOf()];
  const key = keyOf({ rate: { max: 4, perMs: 1_000 } });
  const startedMs = clock.now();
  const answers = await Promise.all(Array.from({ length: 6 }, (_, n) => (n % 2 === 0 ? a : b).enter([key], atOnce)));
  expect(answers.filter(({ kind }) => kind === "entered")).toHaveLength(4);
  const { retryAfterMs } = await full(a.enter([key], atOnce));
  expect(retryAfterMs).toBeGreaterThanOrEqual(1_000);
  expect(retryAfterMs).toBeLessThanOrEqual(1_050);
  let isIn = false;
  void b.enter([key], patient).then(({ kind }) => {
    isIn = kind === "entered";
  });
  await passing(() => isIn);
  expect(clock.now() - startedMs).toBeGreaterThanOrEqual(1_000);
  await Promise.all([a.close(), b.close()]);
});

test("a call that would wait for a rate longer than it may is refused at once", async () => {
  const pacer = pacerOf();
  const key = keyOf({ rate: { max: 1, perMs: 60_000 } });
  entered(await pacer.enter([key], patient));
  const { retryAfterMs } = await full(pacer.enter([key], patient));
  expect(retryAfterMs).toBeGreaterThanOrEqual(60_000);
  await pacer.close();
});

test("a call that is sent again counts again", async () => {
  const pacer = pacerOf();
  const call = entered(await pacer.enter([keyOf({ rate: { max: 2, perMs: 60_000 }, concurrency: 1 })], patient));
  expect([await call.again(), await call.again()]).toEqual([true, false]);
  const unrated = entered(await pacer.enter([keyOf({ concurrency: 1 }, "other")], patient));
  expect(await unrated.again()).toBe(true);
  for (const one of [call, unrated]) one.leave();
  await pacer.close();
});

test("a call with several limits takes no slot of one while another is full", async () => {
  const pacer = pacerOf();
  const [toolkit, account] = [keyOf({ concurrency: 5 }, "", "toolkit"), keyOf({ concurrency: 1 }, "a", "account")];
  const first = entered(await pacer.enter([toolkit, account], patient));
  expect(await full(pacer.enter([toolkit, account], atOnce))).toMatchObject({ by: { limitName: "account" } });
  const others = ["b", "c", "d", "e"].map((key) =>
    pacer.enter([toolkit, keyOf({ concurrency: 1 }, key, "account")], atOnce),
  );
  const going = (await Promise.all(others)).map(entered);
  expect(await full(pacer.enter([toolkit, keyOf({ concurrency: 1 }, "f", "account")], atOnce))).toMatchObject({
    by: { limitName: "toolkit" },
  });
  for (const one of [first, ...going]) one.leave();
  await pacer.close();
});

test("a thousand calls that wait at one key do not delay one of another key", async () => {
  const pacer = pacerOf();
  const busy = keyOf({ concurrency: 1 });
  const holder = entered(await pacer.enter([busy], patient));
  const waiting = Array.from({ length: 1_000 }, (_, n) => pacer.enter([busy], { waitMs: 0, jobId: `job-${n}` }));
  entered(await pacer.enter([keyOf({ concurrency: 1 }, "other")], atOnce)).leave();
  const times = (await Promise.all(waiting)).map((one) => (one.kind === "full" ? one.retryAfterMs : 0));
  expect(new Set(times).size).toBe(1_000);
  holder.leave();
  await pacer.close();
});

test("a job that tries again at its booked time starts before later ones", async () => {
  const pacer = pacerOf();
  const key = keyOf({ concurrency: 1 });
  const holder = entered(await pacer.enter([key], patient));
  const { retryAfterMs } = await full(pacer.enter([key], { waitMs: 0, jobId: "job-1" }));
  clock.advance(retryAfterMs);
  const order: string[] = [];
  const back = pacer.enter([key], { waitMs: 0, jobId: "job-1" }).then((entering) => {
    order.push("back");
    return entering;
  });
  const other = pacer.enter([key], patient).then((entering) => {
    order.push("other");
    return entering;
  });
  holder.leave();
  entered(await back).leave();
  await passing(() => order.length === 2);
  expect(order).toEqual(["back", "other"]);
  entered(await other).leave();
  await pacer.close();
});

test("one call of a returning job goes before the calls that arrived since its refusal", async () => {
  const pacer = pacerOf();
  const key = keyOf({ concurrency: 1 });
  const holder = entered(await pacer.enter([key], patient));
  const { retryAfterMs } = await full(pacer.enter([key], { waitMs: 0, jobId: "job-1" }));
  const order: string[] = [];
  const ask = (name: string, asker: typeof patient | { waitMs: number; jobId: string }) =>
    pacer.enter([key], asker).then((entering) => {
      order.push(name);
      entered(entering).leave();
    });
  clock.advance(1);
  const others = [ask("caller", patient), ask("caller", patient)];
  clock.advance(retryAfterMs);
  const calls = [ask("job", { waitMs: 0, jobId: "job-1" }), ask("job, later", { waitMs: 2_000, jobId: "job-1" })];
  holder.leave();
  await passing(() => order.length === 4, 1);
  expect(order).toEqual(["job", "caller", "caller", "job, later"]);
  await Promise.all([...others, ...calls]);
  await pacer.close();
});

test("a paused limit starts no calls until it is resumed", async () => {
  const pacer = pacerOf();
  const paused = keyOf({ isPaused: true });
  expect(await full(pacer.enter([paused], patient))).toMatchObject({ isPaused: true, retryAfterMs: 30_000 });
  expect(await full(pacer.enter([paused], { waitMs: 0, jobId: "job-1" }))).toMatchObject({ retryAfterMs: 2_000 });
  entered(await pacer.enter([keyOf({})], patient));
  await pacer.close();
});

test("a crashed node loses its slots after the lease, and a live one keeps them", async () => {
  const [lost, other] = [pacerOf(), pacerOf()];
  const key = keyOf({ concurrency: 1 });
  const call = entered(await lost.enter([key], patient));
  // The node renews its slot as long as the call runs. The clock does not move while the node writes, because a slow machine takes longer
  // to write.
  const startedMs = clock.now();
  const isWaiting = () => clock.waiting() > 0;
  await passing(() => isWaiting() && clock.now() - startedMs > 3 * leaseMs, 1_000, isWaiting);
  expect((await other.enter([key], atOnce)).kind).toBe("full");
  call.leave();
  await lost.close();
  clock.advance(50);
  entered(await other.enter([key], atOnce));
  await other.close();
  const third = pacerOf();
  expect((await third.enter([key], atOnce)).kind).toBe("full");
  clock.advance(leaseMs);
  entered(await third.enter([key], atOnce)).leave();
  await third.close();
});

test("while the database is unavailable, a call fails with its error, and released slots are written later", async () => {
  const { db: own, drop: dropOwn } = await createTestDatabase();
  projectId = await addProject(own);
  const pacer = pacerOf(own);
  const key = keyOf({ concurrency: 1 });
  const call = entered(await pacer.enter([key], patient));
  await own.sql`alter table call_paces rename to paces_away`;
  await expect(pacer.enter([keyOf({ concurrency: 1 }, "other")], patient)).rejects.toThrow();
  call.leave();
  await until(() => clock.waiting() > 0);
  await own.sql`alter table paces_away rename to call_paces`;
  clock.advance(1_000);
  const next = entered(await pacer.enter([key], patient));
  next.leave();
  await pacer.close();
  await dropOwn();
});

test("expired limiter state is deleted, and later calls work as before", async () => {
  const pacer = pacerOf();
  const key = keyOf({ concurrency: 1, rate: { max: 5, perMs: 1_000 } });
  entered(await pacer.enter([key], patient)).leave();
  clock.advance(10 * leaseMs);
  expect(await sweepCallPaces(db, clock.now(), 1_000)).toBeGreaterThan(0);
  entered(await pacer.enter([key], patient)).leave();
  await pacer.close();
});
