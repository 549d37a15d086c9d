import { create } from "@bufbuild/protobuf";
import { createContextValues, type HandlerContext } from "@connectrpc/connect";
import { createSealer, type Id, principalContext } from "@svc/core";
import { appendJobEvents } from "@svc/db/jobs/log";
import { WatchJobRequestSchema, type WatchJobResponse } from "@svc/gen/jobs";
import { createTestClock } from "@svc/testing/clock";
import { createTestDatabase, type TestDatabase } from "@svc/testing/database";
import { createTestNode, jobOf, programText } from "@svc/testing/jobs-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { logMethods } from "./log.ts";
import { createJobHints } from "./notes.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Returns a job that no engine runs, and a watcher of its log. The watcher's clock does not move. */
async function watchIdle() {
  const { db } = database;
  const node = createTestNode(db, { isStarted: false });
  const { client, projectId, keyId } = await node.project();
  const program = programText({ steps: [{ id: "pause", wait: "1h" }] });
  const jobId = jobOf(await client.submitJob({ programJson: program })).id as Id<"job">;
  const clock = createTestClock();
  const hints = createJobHints();
  const sealer = createSealer([{ id: "k1", secret: Buffer.alloc(32, 7) }]);
  const gone = new AbortController();
  const values = createContextValues().set(principalContext, { kind: "project", projectId, keyId, role: "member" });
  const { watchJob } = logMethods({ db, clock, hints, sealer });
  const request = create(WatchJobRequestSchema, { jobId });
  const stream = watchJob(request, {
    signal: gone.signal,
    values,
  } as HandlerContext) as AsyncGenerator<WatchJobResponse>;
  const append = () =>
    appendJobEvents(db, jobId, [{ type: "step-progress", stepId: "", payload: "{}", principalChain: [] }], clock.now());
  expect((await stream.next()).value?.event?.type).toBe("job-submitted");
  const pending = stream.next();
  await untilWaiting();
  return { clock, hints, gone, jobId, stream, pending, append };

  async function untilWaiting() {
    while (clock.waiting() === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

test("a hint wakes a watcher; nothing else of this node has to", async () => {
  const { hints, jobId, pending, append, stream } = await watchIdle();
  await append();
  hints.notify(jobId);
  expect((await pending).value?.event).toMatchObject({ type: "step-progress", seq: 2 });
  await stream.return(undefined);
});

test("without a hint a watcher finds what another node committed, when its pause is over", async () => {
  const { clock, pending, append, stream } = await watchIdle();
  await append();
  clock.advance(500);
  expect((await pending).value?.event?.seq).toBe(2);
  await stream.return(undefined);
});

test("a watcher that is told to end does so with the reason, and leaves nothing behind", async () => {
  const { clock, gone, pending } = await watchIdle();
  const reason = new Error("the node stops");
  gone.abort(reason);
  await expect(pending).rejects.toBe(reason);
  expect(clock.waiting()).toBe(0);
});

test("hints hold nothing of jobs that nobody watches any more", () => {
  const hints = createJobHints();
  const heard: string[] = [];
  const jobId = "job_1" as Id<"job">;
  const first = hints.subscribe(jobId, () => heard.push("first"));
  const second = hints.subscribe(jobId, () => heard.push("second"));
  hints.notify(jobId);
  first();
  hints.notify(jobId);
  second();
  hints.notify(jobId);
  expect(heard).toEqual(["first", "second", "second"]);
});
