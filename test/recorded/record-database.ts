import { setTimeout as wait } from "node:timers/promises";
import { type Id, idOfUuid, parseId, uuidOfId } from "@svc/core";
import { type Database, withTransaction } from "@svc/db/connect";
import { postCalendar, type ServerProcess, until } from "@svc/testing/server-process";
import { startSubscriber } from "@svc/testing/subscriber";
import { type DatabaseRecording, movedStore, type UnderWay } from "./database-recording.ts";
import { callAs, type Deployment, fillDeployment, untilDelivered } from "./deployment.ts";
import { acceptedJobs, type DeploymentJob, endedJobs, runningJobs, waitingJobs } from "./deployment-jobs.ts";
import { endOnService, jobsOf, readStanding } from "./drive-service.ts";
import type { Level, LevelDatabase } from "./level.ts";
import { readAll } from "./reads.ts";
import { type NodeChanges, startServiceUnderTest } from "./service-under-test.ts";
import { readStore, writeStore } from "./store.ts";

// 32 bytes of 7, for recordings alone.
const vaultKey = `k1:${Buffer.alloc(32, 7).toString("base64")}`;
/** After so long without a node no lease holds any more, and a call that was under way counts as lost. */
const deadMs = 130_000;

type Submitted = { readonly job: DeploymentJob; readonly id: string };

/** A database, endpoints, and nodes over them. */
type Bench = {
  readonly database: LevelDatabase;
  /** Of endpoints: one takes what it is sent, the other refuses it. */
  readonly receivers: DatabaseRecording["receivers"];
  start(changes: Omit<NodeChanges, "vaultKey">): Promise<ServerProcess>;
};

/**
 * Runs a deployment of this version, kills its node in the middle of work, and reads all that it holds. Three nodes follow each other:
 * one is filled, one is killed, and one that does no work accepts more and is asked everything. Takes some minutes.
 */
export async function recordDatabase(
  level: Level,
  { version, migration }: { version: string; migration: string },
): Promise<DatabaseRecording> {
  await using opened = new AsyncDisposableStack();
  const bench = await openBench(level, opened);
  const filled = await fill(bench);
  const { keyedSubmission, ...worked } = await workUntilKilled(bench, filled.keys);
  const { reads, submitted } = await acceptAndRead(bench, filled.keys, worked);
  const taken = await takeRows(bench, level);
  const head = { version, migration, vaultKey, receivers: bench.receivers, ...filled, keyedSubmission, reads };
  const recording = { ...head, ...taken, underWay: [] };
  // Rows last: they are the most.
  const { tables, ...rest } = recording;
  return { ...rest, underWay: await endAll(level, recording, submitted), tables };
}

async function openBench(level: Level, opened: AsyncDisposableStack): Promise<Bench> {
  const database = await level.create();
  opened.defer(() => database.drop());
  const [good, bad] = [await startSubscriber(), await startSubscriber()];
  opened.defer(() => good.close());
  opened.defer(() => bad.close());
  bad.answer = (_received, res) => res.writeHead(500).end("not today");
  return {
    database,
    receivers: { good: new URL(good.url).origin, bad: new URL(bad.url).origin },
    async start(changes) {
      const service = await startServiceUnderTest(database.url, { vaultKey, ...changes });
      opened.defer(async () => void (await service.end("SIGKILL")));
      return service;
    },
  };
}

/** What a deployment holds beside jobs; deliveries to the endpoint that refuses them are dead by the end. */
async function fill({ start, receivers }: Bench): Promise<Deployment> {
  const service = await start({ retrySchedule: "200ms" });
  const filled = await fillDeployment(service, receivers);
  const key = filled.keys["approver"] ?? "";
  await untilDelivered(service, key, (states) => states.length > 0 && !states.includes("pending"));
  await service.end("SIGTERM");
  return filled;
}

/** Jobs that end, jobs that wait, a delivery that is to be tried again, and jobs that the node is killed at. */
async function workUntilKilled({ start, database }: Bench, keys: Deployment["keys"]) {
  const service = await start({ retrySchedule: "200ms,1m" });
  const key = keys["approver"] ?? "";
  const keyedSubmission = await endJobs(service, key);
  const waiting = await standJobs(service, key, waitingJobs);
  await postCalendar(service, "channel-of-ann", 3);
  await untilDelivered(service, key, (states) => states.includes("pending"));
  const running = await killAtWork(service, key, database.db);
  return { keyedSubmission, submitted: [...waiting, ...running], killedAt: performance.now() };
}

/** Jobs and a delivery that nobody has taken up; then, when the killed node counts as dead, every read. */
async function acceptAndRead(
  { start }: Bench,
  keys: Deployment["keys"],
  { submitted: before, killedAt }: { readonly submitted: readonly Submitted[]; readonly killedAt: number },
) {
  const service = await start({ role: "api" });
  const key = keys["approver"] ?? "";
  const accepted = await standJobs(service, key, acceptedJobs);
  await postCalendar(service, "channel-of-ann", 4);
  process.stdout.write("database: waiting until the killed node counts as dead\n");
  await wait(deadMs - (performance.now() - killedAt));
  const reads = await readAll(service, keys);
  const jobs = jobsOf(service, key);
  const submitted = await Promise.all(
    [...before, ...accepted].map(async ({ job: { name, after: acts = [] }, id }) => {
      return { name, id, key: "approver", stood: await readStanding({ jobs, id }), acts };
    }),
  );
  await service.end("SIGTERM");
  return { reads, submitted };
}

async function takeRows({ database }: Bench, { tables }: Level) {
  const store = await readStore(database.db, tables);
  const pending = [...(store.get("deliveries")?.values() ?? [])].filter(({ state }) => state === "pending");
  return {
    takenAt: new Date().toISOString(),
    pendingDeliveries: pending.map(({ id }) => idOfUuid("dlv", String(id))),
    tables: Object.fromEntries([...store].map(([name, rows]) => [name, [...rows.values()]])),
  };
}

function requestOf({ name, program, options }: DeploymentJob) {
  return { programJson: JSON.stringify({ version: 1, title: name, ...program }), ...options };
}

async function submit(service: ServerProcess, key: string, job: DeploymentJob): Promise<Submitted> {
  const { job: made } = await jobsOf(service, key).submitJob(requestOf(job));
  return { job, id: made?.id ?? "" };
}

/** Lets jobs end, makes a skill of the one that has an idempotency key, and calls it. Answers how that one was submitted. */
async function endJobs(service: ServerProcess, key: string): Promise<DatabaseRecording["keyedSubmission"]> {
  const jobs = jobsOf(service, key);
  const submitted = await Promise.all(endedJobs.map((job) => submit(service, key, job)));
  for (const { job, id } of submitted) await endOnService({ jobs, id, acts: job.before ?? [] });
  const description = "Announces a text in the team's channel.";
  const promoted = submitted.find(({ job }) => job.options?.idempotencyKey !== undefined);
  if (promoted === undefined) throw new Error("no job has an idempotency key");
  await jobs.promoteJob({ jobId: promoted.id, slug: "announce", description });
  const request = { toolSlug: "skills.announce", argumentsJson: '{"text": "Lunch is ready"}' };
  const { resultJson } = await callAs(service, key, "ToolsService/CallTool", request);
  await endOnService({ jobs, id: (JSON.parse(resultJson) as { job_id: string }).job_id, acts: [] });
  return { request: requestOf(promoted.job), jobId: promoted.id };
}

/** Submits one job after the other and waits until it stands as it is to stand when the rows are read. */
async function standJobs(service: ServerProcess, key: string, list: readonly DeploymentJob[]): Promise<Submitted[]> {
  const submitted: Submitted[] = [];
  for (const job of list) {
    const { id } = await submit(service, key, job);
    const stands = async () => {
      const now = await readStanding({ jobs: jobsOf(service, key), id });
      return Object.entries(job.stands ?? {}).every(([name, value]) => now[name as keyof typeof now] === value);
    };
    await until(stands, 120_000, job.name);
    submitted.push({ job, id });
  }
  return submitted;
}

/**
 * Submits jobs and kills the node in the middle of them: each is held up by a lock on its row once it has come far enough, so that
 * its driver waits with its next commit, and dies with it.
 */
async function killAtWork(service: ServerProcess, key: string, db: Database): Promise<Submitted[]> {
  const release = Promise.withResolvers<void>();
  const holding: Promise<unknown>[] = [];
  const submitted: Submitted[] = [];
  await using opened = new AsyncDisposableStack();
  opened.defer(async () => {
    release.resolve();
    await Promise.allSettled(holding);
  });
  for (const job of runningJobs) {
    const one = await submit(service, key, job);
    submitted.push(one);
    const uuid = uuidOfId(parseId("job", one.id) as Id<"job">);
    await untilHalfDone(db, job.name, uuid);
    const isHeld = Promise.withResolvers<void>();
    holding.push(
      withTransaction(db, async (tx) => {
        await tx.sql.unsafe("select id from jobs where id = $1::uuid for no key update", [uuid]);
        isHeld.resolve();
        await release.promise;
      }),
    );
    await isHeld.promise;
  }
  await service.end("SIGKILL");
  return submitted;
}

/** Waits until a job has come to where it is killed; looks without a pause, for it goes on. */
async function untilHalfDone(db: Database, name: string, jobId: string): Promise<void> {
  const conditions: Readonly<Record<string, string>> = {
    "in-flight": "exists (select from tool_calls where job_id = j.id and outcome = 'running')",
    pages: "(substr(j.used #>> '{}', 2)::jsonb->>2)::int >= 6",
    map: "(select (substr(receipt #>> '{}', 2)::jsonb->8->>0)::int from job_steps where job_id = j.id and step_id = 'each') >= 50",
    compensating: "(substr(j.saga #>> '{}', 2)::jsonb->>2)::int >= 3",
  };
  const look = `select ${conditions[name] ?? "true"} as is_so, j.finished_at from jobs j where j.id = $1::uuid`;
  for (;;) {
    const [row] = await db.sql.unsafe<{ is_so: boolean; finished_at: string | null }[]>(look, [jobId]);
    if (row?.is_so === true) return;
    if (row === undefined || row.finished_at !== null) throw new Error(`${name} ended before it could be held up`);
  }
}

/** Lets a node of this version go on with the rows, and answers how every job ended. */
async function endAll(
  level: Level,
  recording: DatabaseRecording,
  underWay: readonly Omit<UnderWay, "ending">[],
): Promise<UnderWay[]> {
  await using opened = new AsyncDisposableStack();
  const database = await level.create();
  opened.defer(() => database.drop());
  const now = { nowMs: Date.now(), receivers: recording.receivers };
  await writeStore(database.db, level.tables, movedStore(recording, level.tables, now));
  const service = await startServiceUnderTest(database.url, { vaultKey });
  opened.defer(async () => void (await service.end("SIGTERM")));
  return await Promise.all(
    underWay.map(async (one) => {
      const jobs = jobsOf(service, recording.keys[one.key] ?? "");
      return { ...one, ending: await endOnService({ jobs, id: one.id, acts: one.acts }, 60_000) };
    }),
  );
}
