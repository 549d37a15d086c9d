import { JobStatus } from "@svc/gen/jobs";
import { expect, test } from "vitest";
import { hasEnded, jobStatuses, jobStatusOf, jobStatusWord, stepStates, stepWord } from "./jobs.ts";

test("every status has its own word, by which it is found again", () => {
  for (const status of jobStatuses) expect(jobStatusOf(jobStatusWord(status).word)).toBe(status);
  expect(jobStatusOf("unknown")).toBeUndefined();
  expect(jobStatusWord(99 as JobStatus).word).toBe("99");
});

test("only ends are ends", () => {
  expect(jobStatuses.filter(hasEnded)).toEqual([
    ...[
      JobStatus.SUCCEEDED,
      JobStatus.FAILED,
      JobStatus.ABORTED,
      JobStatus.REJECTED,
      JobStatus.EXPIRED,
      JobStatus.CANCELLED,
    ],
  ]);
});

test("every state of a step has its own sign", () => {
  expect(new Set(stepStates.map((state) => stepWord(state).icon)).size).toBe(stepStates.length);
});
