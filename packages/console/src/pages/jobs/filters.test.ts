import { JobStatus, JobView } from "@svc/gen/jobs";
import { expect, test } from "vitest";
import { jobStatuses } from "../../words/jobs.ts";
import { isListed, jobsSearch, presets } from "./filters.ts";

const at = 1_800_000_000_000;

test("a list asks for no programs, and for the statuses of its preset", () => {
  const request = jobsSearch.request(jobsSearch.read({ preset: "running", title: "digest" }), at);
  expect(request).toMatchObject({ view: JobView.SUMMARY, titleContains: "digest" });
  expect(request.statuses).toContain(JobStatus.COMPENSATING);
  expect(request.statuses).not.toContain(JobStatus.PARKED);
});

test("one status is asked for instead of those of a preset", () => {
  expect(jobsSearch.request(jobsSearch.read({ preset: "running", status: "expired" }), at).statuses).toEqual([
    JobStatus.EXPIRED,
  ]);
});

test("a job that waits for a time waits for no person", () => {
  const waiting = jobsSearch.read({ preset: "waiting" });
  const parked = (reason: string) => ({ park: { reason } }) as Parameters<typeof isListed>[1];
  expect(isListed(waiting, parked("judgment"))).toBe(true);
  expect(isListed(waiting, parked("wait"))).toBe(false);
  expect(isListed({}, parked("wait"))).toBe(true);
});

test("no job that has not ended is in none of the presets", () => {
  const shown = presets.flatMap((preset) => jobsSearch.request({ preset }, at).statuses ?? []);
  for (const status of jobStatuses) if (status < JobStatus.SUCCEEDED) expect(shown).toContain(status);
});
