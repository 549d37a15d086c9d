import { JobsService } from "@svc/gen/jobs";
import { serveRoutes } from "@svc/testing/http";
import { expect, test } from "vitest";
import { runTestCommand } from "../../test-command.ts";

test("steps tell how many rows they made of how many, which branch was taken, and what is not reached", async () => {
  const steps = [
    { stepId: "fetch", kind: "call", state: "completed", rowsDone: 1_000 },
    { stepId: "some", kind: "group", state: "completed", rowsDone: 1_000, rowsMade: 20 },
    { stepId: "zero", kind: "filter", state: "completed", rowsDone: 20, rowsMade: 0 },
    { stepId: "which", kind: "if", state: "running", branch: "else" },
    { stepId: "other", kind: "judge", state: "not_reached" },
  ];
  await using server = await serveRoutes((router) => router.service(JobsService, { listSteps: () => ({ steps }) }));
  const { printed } = await runTestCommand(["jobs", "steps", "job_1"], { SVC_URL: server.url, SVC_API_KEY: "key" });
  const cells = printed.slice(1).map((line) => line.split(/ {2,}/).slice(2, 4).join(" | "));
  expect(cells).toEqual([
    "completed | 1,000",
    "completed | 1,000 -> 20",
    "completed | 20 -> 0",
    "running, chose else | -",
    "not reached | -",
  ]);
});
