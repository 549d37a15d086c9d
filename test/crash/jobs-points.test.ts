import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { call, type ServerProcess } from "@svc/testing/server-process";
import { type Subscriber, startSubscriber } from "@svc/testing/subscriber";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  allowRequests,
  connectDesk,
  createJobsBench,
  examine,
  type JobAnswer,
  type JobsBench,
  type KillPoint,
  look,
  startNode,
  submit,
  untilIdle,
  type Worker,
} from "./jobs-bench.ts";
import { kinds } from "./jobs-programs.ts";

// Kills a worker's process at every fault point of every kind of work and lets another finish.

const rounds = Number(process.env["SVC_CRASH_ROUNDS"] ?? 0);
/** At which passing of the point the worker dies: further ones are much like these. */
const passings = [1, 2, 3, 5, 8].filter((nth) => nth <= rounds);
const everywhere = ["after-claim", "before-commit", "after-commit"];
const around = ["before-call", "after-insert", "in-send", "after-send", "after-call"];
const writing = ["before-insert"];
const asking = ["after-ask-commit"];

const pointsOf: Readonly<Record<string, readonly string[]>> = {
  read: [...everywhere, ...around],
  write: [...everywhere, ...around, ...writing],
  "keyed write": [...everywhere, ...around, ...writing],
  pages: [...everywhere, ...around],
  "pages by number": [...everywhere, ...around],
  filter: everywhere,
  sets: everywhere,
  "map of reads": [...everywhere, ...around],
  "map of writes": [...everywhere, ...around, ...writing],
  "map of keyed writes": [...everywhere, ...around, ...writing],
  "rows kept": [...everywhere, ...around, ...writing],
  when: [...everywhere, ...around, ...writing],
  "http read": [...everywhere, ...around],
  "http write": [...everywhere, ...around, ...writing],
  "keyed http write": [...everywhere, ...around, ...writing],
  "map of http writes": [...everywhere, ...around, ...writing],
  "map of keyed http writes": [...everywhere, ...around, ...writing],
  judge: [...everywhere, ...asking],
  wait: everywhere,
  until: [...everywhere, ...around, ...writing],
  parallel: [...everywhere, ...around, ...writing, ...asking],
  skills: [...everywhere, ...around, ...writing],
  "map of skills": [...everywhere, ...around, ...writing],
  "handled error": [...everywhere, ...around, ...writing],
  undo: [...everywhere, ...around, ...writing, "mid-undo"],
};

/** What `npm test` looks at: a kill where each kind of work is most exposed. */
const sample: readonly (readonly [kind: string, point: string, nth: number])[] = [
  ["pages", "before-commit", 2],
  ["keyed write", "in-send", 1],
  ["map of writes", "in-send", 5],
  ["rows kept", "in-send", 5],
  ["sets", "before-commit", 6],
  ["judge", "after-ask-commit", 1],
  ["undo", "mid-undo", 1],
  ["http write", "after-send", 1],
  ["map of keyed http writes", "in-send", 5],
  ["until", "after-commit", 5],
  ["parallel", "before-commit", 3],
  ["skills", "after-commit", 4],
];

let database: TestDatabase;
let bench: JobsBench;
let server: ServerProcess;
let receiver: Subscriber;
let worker: Worker;
let standby: Promise<Worker>;
let deaths = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  bench = await createJobsBench(database.url);
  [server, worker] = await Promise.all([startNode(bench, { SVC_ROLE: "api" }), bench.worker()]);
  standby = bench.worker();
  await connectDesk(server);
  await allowRequests(server, bench.provider.url);
  receiver = await startSubscriber();
  await call(server, "JobsService/CreateAskEndpoint", { endpointUrl: receiver.url });
  await worker.tell({ start: true });
  await promoteNote();
});

/** Makes the skill that jobs of the kind `skills` run. */
async function promoteNote(): Promise<void> {
  const jobId = await submit(server, "keyed write", "skill");
  await finish(jobId);
  await call(server, "JobsService/PromoteJob", { jobId, slug: "note", description: "Sends a note." });
}

afterAll(async () => {
  await server?.end("SIGKILL");
  await bench?.close();
  await receiver?.close();
  await database?.drop();
});

let jobs = 0;
/** Jobs that asked something. */
const asked: string[] = [];

/** Runs one job whose worker dies at a point; whether it came to that. */
async function runAndKill(kind: string, { point, nth }: KillPoint): Promise<boolean> {
  const tag = `t${++jobs}`;
  const doomed = worker;
  let left = nth;
  bench.provider.onRequest = () => {
    if (point !== "in-send" || --left !== 0) return false;
    void doomed.kill();
    return true;
  };
  await doomed.tell({ arm: point === "in-send" ? null : { point, nth } });
  const id = await submit(server, kind, tag, bench.provider.url);
  const job = await finish(id);
  bench.provider.onRequest = () => false;
  // Whoever dies after the last commit is dead by its answer.
  await doomed.tell({ arm: null });
  const isDead = doomed.isDead();
  if (isDead && worker === doomed) await succeed();
  await examine(server, { job, kind, tag, provider: bench.provider });
  expectUnknown(job, { kind, point, nth, isDead });
  if (isDead) deaths++;
  if (kind === "judge" || kind === "parallel") asked.push(job.id);
  return isDead;
}

/** The next worker takes over. */
async function succeed(): Promise<void> {
  worker = await standby;
  standby = bench.worker();
  await worker.tell({ start: true });
}

async function finish(id: string): Promise<JobAnswer> {
  const end = Date.now() + 60_000;
  const doomed = worker;
  for (;;) {
    const { job, isEnded } = await look(server, id);
    if (isEnded) return job;
    if (doomed.isDead() && worker === doomed) await succeed();
    if (Date.now() > end) throw new Error(`not ended: ${JSON.stringify(job)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Writes of the kinds that make them one after the other: each begins with a commit, and ends with the next one. */
const writesOf: Readonly<Record<string, number>> = {
  write: 1,
  "keyed write": 1,
  "http write": 1,
  "keyed http write": 1,
  when: 1,
  undo: 2,
};

/** Whether the commits of a kind do not tell by their number whether a write is under way. */
function isManifold(kind: string): boolean {
  return ["rows kept", "until", "parallel", "handled error", "skills"].includes(kind) || kind.startsWith("map of");
}

/** Whether a write was under way where a worker died. */
function isUnderWay(kind: string, { point, nth }: KillPoint): boolean {
  const writes = writesOf[kind] ?? 0;
  if (point === "before-commit") return nth >= 2 && nth <= writes + 1;
  if (point === "after-commit") return nth <= writes;
  return ["after-insert", "in-send", "after-send", "after-call"].includes(point);
}

/** A write that was begun and whose end is not in the ledger is in doubt; what was not begun, or has its end there, is not. */
function expectUnknown(
  job: JobAnswer,
  { kind, isDead, ...killed }: KillPoint & { readonly kind: string; readonly isDead: boolean },
): void {
  const { point } = killed;
  const { unknown = 0, retried = 0, read = 0, write = 0 } = job.receipt?.calls ?? {};
  const isExposed = isDead && isUnderWay(kind, killed);
  const isKeyed = kind === "keyed write" || kind === "keyed http write";
  if (isExposed && (isKeyed || kind === "write" || kind === "http write")) {
    expect(unknown, `${kind} at ${point}`).toBe(1);
  }
  if (isExposed && isKeyed) expect(retried).toBe(1);
  if (!isExposed && !isManifold(kind)) expect(unknown, `${kind} at ${point}`).toBe(0);
  if (write === 0 && read > 0) expect(unknown).toBe(0);
}

if (rounds === 0) {
  test.each(sample)(
    "%s, its worker killed at %s (%i): another finishes",
    { timeout: 90_000 },
    async (kind, point, nth) => {
      expect(await runAndKill(kind, { point, nth })).toBe(true);
    },
  );
} else {
  const cases = Object.keys(kinds).flatMap((kind) => (pointsOf[kind] ?? []).map((point) => [kind, point] as const));
  test.each(cases)(
    "%s, its worker killed at %s, time after time: another finishes",
    { timeout: passings.length * 90_000 },
    async (kind, point) => {
      let died = 0;
      for (const nth of passings) {
        // A job that never came there so often will not come there more often.
        if (!(await runAndKill(kind, { point, nth }))) break;
        died++;
      }
      expect(died).toBeGreaterThan(0);
    },
  );
}

test("afterwards no work is left, and every question was published", { timeout: 60_000 }, async () => {
  await untilIdle(database.url, 50_000);
  const published = receiver.received.map(({ body }) => (JSON.parse(body) as { jobId: string }).jobId);
  expect(asked.filter((id) => !published.includes(id))).toEqual([]);
  expect(deaths).toBeGreaterThan(0);
  if (rounds > 0) process.stdout.write(`${jobs} jobs, ${deaths} workers killed\n`);
});
