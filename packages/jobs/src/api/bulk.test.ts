import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { createId, requireId, uuidOfId } from "@svc/core";
import { BulkJobsAction, JobOriginKind, JobStatus, JobView } from "@svc/gen/jobs";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createWorld } from "@svc/testing/desk";
import { createTestNode, jobOf, programText } from "@svc/testing/jobs-node";
import { refusalsOf } from "@svc/testing/project-client";
import { afterAll, beforeAll, expect, test } from "vitest";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const sending = {
  steps: [
    { id: "send", call: "desk.send_note", entity: "ops", args: { text: "x" } },
    { id: "keep", call: "desk.send_note", entity: "ops", args: { text: "y" } },
  ],
};
const sleeping = { steps: [{ id: "nap", wait: "1h" }] };
const { RETRY, CANCEL } = BulkJobsAction;

/** Starts a node whose app refuses writes until `isWell` is set. */
async function begin() {
  const world = createWorld();
  const app = { isWell: false, words: "the desk 12 is closed" };
  world.script = ({ method }) =>
    method === "POST" && !app.isWell ? { status: 409, body: { message: app.words } } : undefined;
  const node = createTestNode(database.db, { world });
  const { client } = await node.project();
  const run = async (program: object, status: Parameters<typeof node.reach>[1]) => {
    const { id } = jobOf(await client.submitJob({ programJson: programText(program) }));
    await node.reach(id, status);
    return jobOf(await client.getJob({ id }));
  };
  return { node, client, app, run };
}

test("ListJobs finds jobs by failure, program, origin and duration, and a summary has the same failure", async () => {
  const { node, client, app, run } = await begin();
  await using _ = node;
  const failed = await run(sending, "failed");
  app.words = "the desk 13 is closed";
  const again = await run(sending, "failed");
  app.words = "no such desk";
  const other = await run({ ...sending, title: "Other" }, "failed");
  const asleep = await run(sleeping, "parked");
  const ids = async (filter: object) => (await client.listJobs(filter)).jobs.map((job) => job.id);
  const { fingerprint = "" } = failed.failure ?? {};
  expect(failed.failure?.title).toBe('Desk refused the call: "the desk 12 is closed"');
  expect(again.failure?.fingerprint).toBe(fingerprint);
  expect(await ids({ failureFingerprint: fingerprint })).toEqual([again.id, failed.id]);
  expect(await ids({ failureFingerprint: fingerprint, statuses: [JobStatus.SUCCEEDED] })).toEqual([]);
  expect(await ids({ programHash: other.programHash })).toEqual([other.id]);
  expect(await ids({ originKind: JobOriginKind.KEY })).toEqual([asleep.id, other.id, again.id, failed.id]);
  expect(await ids({ originKind: JobOriginKind.SCHEDULE })).toEqual([]);
  expect(await ids({ slowerThanMs: 3_600_000 })).toEqual([]);
  const { jobs } = await client.listJobs({ view: JobView.SUMMARY });
  expect(jobs.map(({ failure }) => failure)).toEqual([
    undefined,
    ...[other, again, failed].map(({ failure }) => failure),
  ]);
  const steps = (job: (typeof jobs)[number]) => [job.stepsDone, job.stepsTotal];
  expect(jobs.map(steps)).toEqual([
    [0, 1],
    [1, 2],
    [1, 2],
    [1, 2],
  ]);
  expect(steps(failed)).toEqual([1, 2]);
  const [error] = failed.stepReceipts[0]?.errors ?? [];
  expect(error?.failure).toMatchObject({ fingerprint, title: failed.failure?.title });
});

test("BulkJobs retries exactly the jobs that a dry run counted", async () => {
  const { node, client, app, run } = await begin();
  await using _ = node;
  const counted = [await run(sending, "failed"), await run(sending, "failed")];
  const filter = { failureFingerprint: counted[0]?.failure?.fingerprint ?? "" };
  const dry = await client.bulkJobs({ action: RETRY, filter, dryRun: true });
  expect(dry).toMatchObject({ matched: 2, done: 0, refused: 0, hasMore: false });
  expect((await client.getJob({ id: counted[0]?.id ?? "" })).job?.attempt).toBe(1);
  const later = await run(sending, "failed");
  app.isWell = true;
  const made = await client.bulkJobs({ action: RETRY, filter, ...(dry.until && { until: dry.until }) });
  expect(made).toMatchObject({ matched: 2, done: 2, refused: 0, summary: "retried 2 of 2 jobs" });
  for (const { id } of counted) await node.reach(id, "succeeded");
  expect((await client.getJob({ id: later.id })).job?.status).toBe(JobStatus.FAILED);
  expect(dry.until && timestampMs(dry.until)).toBeLessThan(Date.now() + 1);
});

test("BulkJobs retries an attempt once, and a filter leaves out jobs without attempts", async () => {
  const { node, client, run } = await begin();
  await using _ = node;
  const { id, failure } = await run(sending, "failed");
  const filter = { failureFingerprint: failure?.fingerprint ?? "" };
  expect(await client.bulkJobs({ action: RETRY, filter })).toMatchObject({ matched: 1, done: 1 });
  await node.reach(id, "failed");
  // Another call that found the first attempt gets the outcome of the earlier call.
  await client.retryJob({ id, idempotencyKey: `bulk-${id}-1` });
  expect(await client.getJob({ id })).toMatchObject({ job: { attempt: 2, status: JobStatus.FAILED } });
  await database.db.sql`update jobs set attempt = 20 where id = ${uuidOfId(requireId("job", "id", id))}`;
  expect(await client.bulkJobs({ action: RETRY, filter })).toMatchObject({ matched: 0, refused: 0 });
  expect(await client.bulkJobs({ action: RETRY, jobIds: [id] })).toMatchObject({ matched: 1, refused: 1 });
});

test("BulkJobs cancels the named jobs of the project, and leaves ended ones out", async () => {
  const { node, client, run } = await begin();
  await using _ = node;
  const other = await node.project();
  const theirs = jobOf(await other.client.submitJob({ programJson: programText(sleeping) }));
  await node.reach(theirs.id, "parked");
  const asleep = [await run(sleeping, "parked"), await run(sleeping, "parked")];
  const failed = await run(sending, "failed");
  const jobIds = [...asleep, failed, theirs].map(({ id }) => id);
  const made = await client.bulkJobs({ action: CANCEL, jobIds: [...jobIds, "nope"] });
  expect(made).toMatchObject({ matched: 2, done: 2, refused: 0, summary: "cancelled 2 of 2 jobs" });
  for (const { id } of asleep) await node.reach(id, "cancelled");
  expect((await other.client.getJob({ id: theirs.id })).job?.status).toBe(JobStatus.PARKED);
});

test("BulkJobs counts the jobs that refuse, and names their reasons", async () => {
  const { node, client, app, run } = await begin();
  await using _ = node;
  const broken = {
    ...sending,
    limits: { toolCalls: 1 },
  };
  app.isWell = true;
  const limited = await run({ ...broken, steps: [...sending.steps.slice(0, 1), { id: "stop", fail: "no" }] }, "failed");
  const made = await client.bulkJobs({ action: RETRY, jobIds: [limited.id] });
  expect(made.matched).toBe(1);
  expect(made.done + made.refused).toBe(1);
  const refused = async (request: object) => (await refusalsOf(client.bulkJobs(request))).details;
  expect(await refused({ action: RETRY })).toEqual([{ reason: "BULK_JOBS_UNCLEAR", field: "filter" }]);
  expect(await refused({ filter: {} })).toEqual([{ reason: "BULK_JOBS_UNCLEAR", field: "action" }]);
});

test("BulkJobs goes once through all jobs, although the newest 1,000 can never be retried", async () => {
  const { node, client, app, run } = await begin();
  await using _ = node;
  const well = [await run(sending, "failed"), await run(sending, "failed")];
  app.isWell = true;
  await copyJobs(well[0]!.id, 1_050, { has_lost_rows: true });
  const request = { filter: { status: JobStatus.FAILED }, until: timestampFromMs(Date.now()) };
  const passes = async (asked: object) => {
    const answers = [await client.bulkJobs({ ...request, ...asked })];
    for (let next = answers[0]?.next; next !== ""; next = answers.at(-1)?.next)
      answers.push(await client.bulkJobs({ ...request, ...asked, after: next! }));
    return answers;
  };
  const ends = [{ hasMore: true }, { hasMore: false }];
  const counted = await passes({ action: RETRY, dryRun: true });
  expect(counted).toMatchObject([
    { matched: 1_000, ...ends[0] },
    { matched: 52, ...ends[1] },
  ]);
  const retried = await passes({ action: RETRY });
  expect(retried).toMatchObject([
    { matched: 1_000, done: 0, refused: 1_000, ...ends[0] },
    { matched: 52, done: 2, refused: 50, ...ends[1] },
  ]);
  expect(retried[0]?.refusals[0]).toMatchObject({ reason: "JOB_NOT_RETRYABLE" });
  for (const { id } of well) await node.reach(id, "succeeded");
}, 60_000);

test("BulkJobs continues with the older jobs", async () => {
  const { node, client, run } = await begin();
  await using _ = node;
  const oldest = await run(sending, "failed");
  const newest = await run(sending, "failed");
  // A job that failed again has the same id. Without `after`, each call would find it first.
  const one = await client.bulkJobs({ action: RETRY, filter: { status: JobStatus.FAILED }, after: newest.id });
  expect(one).toMatchObject({ matched: 1, done: 1, hasMore: false, next: "" });
  await node.reach(oldest.id, "failed");
  const named = { action: RETRY, jobIds: [newest.id, oldest.id], dryRun: true };
  expect(await client.bulkJobs({ ...named, after: newest.id })).toMatchObject({ matched: 1, next: "" });
  const { details } = await refusalsOf(client.bulkJobs({ ...named, after: "job_x" }));
  expect(details).toEqual([{ reason: "ID_MALFORMED", field: "after" }]);
});

/** Copies a job, with newer ids and other values of columns. */
async function copyJobs(jobId: string, count: number, values: object) {
  const { sql } = database.db;
  const id = uuidOfId(requireId("job", "id", jobId));
  const ids = Array.from({ length: count }, () => uuidOfId(createId("job", Date.now())));
  await sql`
    insert into jobs select (jsonb_populate_record(job, jsonb_build_object('id', copy) || ${JSON.stringify(values)}::text::jsonb)).*
    from jobs job, unnest(${`{${ids.join(",")}}`}::text::uuid[]) copy where job.id = ${id}`;
}
