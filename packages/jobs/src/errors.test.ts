import { expect, test } from "vitest";
import { jobFaults } from "./errors.ts";

test.each([
  ["succeeded", "job job_1 has succeeded"],
  ["failed", "job job_1 has failed"],
  ["expired", "job job_1 has expired"],
  ["aborted", "job job_1 was aborted"],
  ["rejected", "job job_1 was rejected"],
  ["cancelled", "job job_1 was cancelled"],
])("of a job that has ended as %s it is told that it %s", (status, message) => {
  expect(jobFaults.JOB_FINISHED("id", "job_1", status).message).toBe(message);
});
