import { JobStatus } from "@svc/gen/jobs";
import { expect, test } from "vitest";
import { actsOf, cancelWords } from "./job-actions.ts";

const saga = (entries: number) => ({ entries }) as never;
const undoing = '{"saga":{"on":["cancelled"]}}';

test("before a job is cancelled it is said what will be undone", () => {
  const running = { status: JobStatus.RUNNING, programJson: undoing };
  expect(cancelWords({ ...running, saga: saga(3) })[1]).toBe("3 calls are undone, newest first, before the job ends.");
  expect(cancelWords({ ...running, saga: saga(0) })[1]).toContain("So far there are none");
  expect(cancelWords({ ...running, programJson: '{"saga":{"on":["failed"]}}', saga: saga(3) })[1]).toContain(
    "Nothing is undone",
  );
});

test("each act is offered where the service allows it", () => {
  const job = { mode: "live", programJson: "{}", parentJobId: "", status: JobStatus.RUNNING } as never as Parameters<
    typeof actsOf
  >[0];
  expect(actsOf(job)).toMatchObject({ cancel: true, pause: true, resume: false, retry: false, promote: false });
  expect(actsOf({ ...job, status: JobStatus.FAILED })).toMatchObject({ cancel: false, retry: true, rerun: true });
  expect(actsOf({ ...job, status: JobStatus.FAILED, mode: "simulate" }).retry).toBe(false);
  expect(actsOf({ ...job, status: JobStatus.SUCCEEDED, programJson: '{"inputSchema":{}}' }).promote).toBe(true);
  expect(actsOf({ ...job, status: JobStatus.REJECTED }).retry).toBe(false);
});
