import { until } from "@svc/testing/server-process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { untilIdle } from "./jobs-bench.ts";
import { expectUnknown } from "./jobs-doubt.ts";
import { type Dying, dieApart } from "./jobs-pair.ts";
import { type Line, lines, sample } from "./jobs-points.ts";
import { type Doom, type Relay, startRelay } from "./jobs-relay.ts";
import { dieServing, type Move, servedPoints } from "./jobs-served.ts";

// At every fault point of every kind of work, kills a worker's process, freezes it, or disconnects it from its store. Another worker then
// finishes the job.

const isWhole = Number(process.env["SVC_CRASH_ROUNDS"] ?? 0) > 0;
/** Number of relays (sets of workers with a store of their own) that run at once, since a test mostly waits for leases to end. */
const relaysMax = isWhole ? 5 : 1;
const relays: Relay[] = [];
const idle: Relay[] = [];
const counts: Record<string, number> = {};
/** Jobs that asked a question. */
const asked: { readonly relay: Relay; readonly id: string }[] = [];
const asking = ["judge", "parallel"];

beforeAll(async () => {
  // Started one after the other, because together they would be too slow to be ready in time.
  for (let index = 0; index < relaysMax; index++) relays.push(await startRelay("abcdefgh"[index] ?? "z"));
  idle.push(...relays);
}, 900_000);

afterAll(async () => {
  for (const relay of relays) await relay.close();
});

/** Runs a job under a fault. Returns true if the fault happened. */
async function meet(relay: Relay, doom: Doom): Promise<boolean> {
  const { job, isMet, isPaused } = await relay.meet(doom);
  if (doom.fault === "killed" && doom.pausesAt === undefined) expectUnknown(job, { ...doom, isMet });
  const name =
    doom.pausesAt === undefined ? doom.fault : isPaused ? "killed on the way into a pause" : "pause too late";
  if (isMet) counts[name] = (counts[name] ?? 0) + 1;
  counts["jobs"] = (counts["jobs"] ?? 0) + 1;
  if (asking.includes(doom.kind)) asked.push({ relay, id: job.id });
  return isMet;
}

/** Lends a relay to a test. After a failure its workers may be in any state, so another relay takes its place. */
async function withRelay<T>(run: (relay: Relay) => Promise<T>): Promise<T> {
  // A relay whose test exceeded its time is put back when its work is done.
  const relay = await takeIdle();
  let next: Relay | undefined;
  try {
    const result = await run(relay);
    next = relay;
    return result;
  } finally {
    next ??= await replace(relay);
    idle.push(next);
  }
}

/** Takes the first relay that is free. Another waiting test may take it first; then this one waits for the next. */
async function takeIdle(): Promise<Relay> {
  for (;;) {
    await until(() => idle.length > 0, 300_000, "workers that are free");
    const relay = idle.pop();
    if (relay !== undefined) return relay;
  }
}

async function replace(relay: Relay): Promise<Relay> {
  await relay.close();
  const next = await startRelay(`${relay.nextTag()}x`);
  relays.splice(relays.indexOf(relay), 1, next);
  return next;
}

if (!isWhole) {
  const cases = sample.map((doom) => [doom.kind, doom.fault, doom.point, doom.nth, doom] as const);
  test.each(cases)(
    "%s, its worker %s at %s (%i): another finishes",
    { timeout: 240_000 },
    async (...[, , , , doom]) => {
      expect(await withRelay((relay) => meet(relay, doom))).toBe(true);
    },
  );
}

const moves = Object.entries(servedPoints).flatMap(([move, points]) =>
  points.map((point) => [move as Move, point] as const),
);
/** `npm test` runs one of the cases. */
const served = isWhole ? moves : ([["submitJob", "after-served"]] as const);

test.concurrent.each(served)(
  "%s, its node killed at %s while it serves that: called again, it is done once",
  { timeout: 600_000 },
  async (move, point) => {
    expect(await withRelay((relay) => dieServing(relay, move, point))).toBe(true);
    counts["killed serving"] = (counts["killed serving"] ?? 0) + 1;
  },
);

/** Which of two nodes dies. `npm test` leaves this out, because it needs two more processes. */
const apart: readonly Dying[] = isWhole ? ["child", "parent", "both"] : [];

test.concurrent.for(apart)(
  "one node holds a child, the other its parent, and the node of the %s dies: every row has one child, which ends well",
  { timeout: 900_000 },
  async (dying) => {
    await withRelay((relay) => dieApart(relay, dying));
  },
);

/** Returns a name for a case, and the case. */
function named(line: Line): readonly [name: string, line: Line] {
  const { kind, fault, point, pausesAt } = line;
  const paused = pausesAt === undefined ? "" : ` paused at ${pausesAt.join(" ")},`;
  return [`${kind},${paused} its worker ${fault} at ${point}`, line];
}

describe.runIf(isWhole).each(Object.entries(lines))("%s", (name, all) => {
  test.concurrent.each(all.map(named))(
    "%s, time after time: another finishes",
    { timeout: 900_000 },
    async (_name, line) => {
      const { passings, ...doom } = line;
      let met = 0;
      await withRelay(async (relay) => {
        for (const nth of passings) {
          // A job that does not pass the point that often will not pass it more often.
          if (!(await meet(relay, { ...doom, nth }))) break;
          met++;
        }
      });
      if (name === "killed") expect(met).toBeGreaterThan(0);
    },
  );
});

test("afterwards no work is left, and every question was published", { timeout: 120_000 }, async () => {
  for (const { database } of relays) await untilIdle(database.url, 50_000);
  for (const { relay, id } of asked) {
    const published = relay.receiver.received.map(({ body }) => (JSON.parse(body) as { jobId: string }).jobId);
    expect(published).toContain(id);
  }
  expect(counts["killed"]).toBeGreaterThan(0);
  expect(counts["killed on the way into a pause"]).toBeGreaterThan(0);
  if (isWhole) process.stdout.write(`faults: ${JSON.stringify(counts)}\n`);
});
