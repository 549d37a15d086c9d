import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { Fault } from "@svc/core";
import { type Job, JobStatus, JobsService } from "@svc/gen/jobs";
import { serveRoutes } from "@svc/testing/http";
import { expect, test } from "vitest";
import type { ScreenLine } from "../../command/screen.ts";
import { startCommand } from "../../test-command.ts";

const programJson = JSON.stringify({
  version: 1,
  title: "Count",
  params: { min: 7 },
  steps: [
    { id: "fetch", call: "crm.list", rows: {} },
    { id: "send", map: "fetch", do: [{ id: "s", call: "bot.send" }] },
    { id: "gate", judge: "many" },
  ],
});
const base = { id: "job_1", programJson, createdAt: timestampFromMs(0) };
const finished = { ...base, status: JobStatus.SUCCEEDED, finishedAt: timestampFromMs(9_000) };
const parked = {
  ...base,
  status: JobStatus.PARKED,
  park: {
    reason: "judgment",
    stepId: "gate",
    judgment: {
      requestId: "ask_1",
      question: "Really\u001b[2J?",
      continuations: ["retry-with", "abort"],
      answerSchemaJson: '{"type":"object","properties":{"min":{"type":"number"},"name":{"type":"string"}}}',
    },
  },
  pendingAsk: { principalId: "team lead", deliveredPrincipals: ["team lead"] },
};

type Entry = readonly [type: string, stepId: string, payload: unknown];

const log: readonly Entry[] = [
  ["job-submitted", "", { mode: "live" }],
  ["step-started", "fetch", { attempt: 1 }],
  ["step-finished", "fetch", { state: "completed", rows: { in: 2_000, ok: 2_000 } }],
  ["step-started", "send", { attempt: 1 }],
  ["step-progress", "send", { rows: { in: 500, ok: 499, failed: 1 } }],
  ["job-status-changed", "", { to: "succeeded", reason: "finished" }],
];

/**
 * Starts a JobsService that has one job. Every stream breaks after `breakAfter` entries. `job` returns the job's state for the number of
 * entries that were sent.
 */
async function startJobs({
  entries = log,
  breakAfter = Number.POSITIVE_INFINITY,
  job = () => finished as unknown as Job,
  endsOpen = false,
  refusals = 0,
  children = [],
}: {
  entries?: readonly Entry[];
  breakAfter?: number;
  job?: () => Job;
  children?: readonly unknown[];
  endsOpen?: boolean;
  refusals?: number;
}) {
  const asked: number[] = [];
  const closed = Promise.withResolvers<void>();
  const server = await serveRoutes((router) =>
    router.service(JobsService, {
      getJob: () => ({ job: job() }),
      listJobs: ({ parentJobId, status }) => ({
        jobs: parentJobId === "job_1" && status === JobStatus.PARKED ? (children as Job[]) : [],
      }),
      async *watchJob({ afterSeq }, { signal }) {
        asked.push(afterSeq);
        signal.addEventListener("abort", () => closed.resolve());
        if (afterSeq > 0 && asked.length <= refusals + 1) throw new ConnectError("not back yet", Code.Unavailable);
        for (const [index, [type, stepId, payload]] of entries.entries()) {
          const seq = index + 1;
          if (seq <= afterSeq) continue;
          if (seq > afterSeq + breakAfter) throw new ConnectError("going away", Code.Unavailable);
          const at = timestampFromMs(seq * 1_000);
          yield { event: { jobId: "job_1", seq, type, stepId, at, payloadJson: JSON.stringify(payload) } };
        }
        if (endsOpen) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    }),
  );
  return { server, asked, closed: closed.promise, variables: { SVC_URL: server.url, SVC_API_KEY: "key" } };
}

test("progress is told line by line: steps, rows done, pace and time left", async () => {
  const { server, variables } = await startJobs({});
  await using _ = server;
  const { exitCode, noted } = startCommand(["jobs", "watch", "job_1"], variables);
  expect(await exitCode).toBe(0);
  expect(noted).toEqual([
    "00:00:01 submitted, live",
    "00:00:02 fetch: call crm.list",
    "00:00:03 fetch: completed, 2,000 rows",
    "00:00:04 send: map bot.send",
    "00:00:05 send: 500 of 2,000 rows (25 %), 500 rows/s, about 3.0 s left",
    "00:00:06 succeeded",
    "job job_1 succeeded",
  ]);
});

test("a job that did its work and cannot give its result is told with why", async () => {
  const lastError = "EXPRESSION_FAILED: $cel divides by zero, at /result/share/$cel";
  const { server, variables } = await startJobs({ job: () => ({ ...finished, lastError }) as unknown as Job });
  await using _ = server;
  const { exitCode, noted } = startCommand(["jobs", "watch", "job_1"], variables);
  expect(await exitCode).toBe(0);
  expect(noted.slice(-2)).toEqual(["job job_1 succeeded", `its result could not be given: ${lastError}`]);
});

test("a stream that breaks is taken up after the last entry received, and no entry is told twice", async () => {
  const { server, asked, variables } = await startJobs({ breakAfter: 4 });
  await using _ = server;
  const { exitCode, noted } = startCommand(["jobs", "watch", "job_1"], variables);
  expect(await exitCode).toBe(0);
  expect(asked).toEqual([0, 4]);
  expect(noted.filter((line) => line.startsWith("00:00"))).toHaveLength(log.length);
  expect(noted.join("\n")).not.toContain("connection");
});

test("a service that stays away is told of once, and is tried again until it is back", async () => {
  const { server, asked, variables } = await startJobs({ breakAfter: 4, refusals: 2 });
  await using _ = server;
  const { exitCode, noted } = startCommand(["jobs", "watch", "job_1"], variables);
  expect(await exitCode).toBe(0);
  expect(asked).toEqual([0, 4, 4, 4]);
  const told = noted.filter((line) => line.includes("connection"));
  expect(told).toEqual(["The connection broke (not back yet). Connecting again."]);
});

test("a refusal ends a watch with 1 and is not asked for again", async () => {
  let count = 0;
  const server = await serveRoutes((router) =>
    router.service(JobsService, {
      getJob: () => {
        count += 1;
        throw new Fault("not_found", "there is no job", [{ reason: "JOB_NOT_FOUND", help: "" }]);
      },
    }),
  );
  await using _ = server;
  const { exitCode, noted } = startCommand(["jobs", "watch", "job_1"], { SVC_URL: server.url, SVC_API_KEY: "key" });
  expect(await exitCode).toBe(1);
  expect({ count, noted }).toEqual({ count: 1, noted: ["svc: there is no job (JOB_NOT_FOUND)."] });
});

const asking: readonly Entry[] = [["ask-raised", "gate", { requestId: "ask_1" }]];

test("a question ends a watch with 3 where nobody is at a terminal, with the commands that answer it", async () => {
  const { server, closed, variables } = await startJobs({
    entries: asking,
    job: () => parked as unknown as Job,
    endsOpen: true,
  });
  await using _ = server;
  const { exitCode, noted } = startCommand(["jobs", "watch", "job_1"], variables);
  expect(await exitCode).toBe(3);
  // If the stream stayed open, it would keep the test's process running.
  await closed;
  expect(noted).toEqual([
    "? Really [2J?",
    "  with team lead",
    "  Answer with one of:",
    `    svc answer ask_1 retry-with --as 'team lead' --overrides '{"min":7,"name":"sample-name"}'`,
    "    svc answer ask_1 abort --as 'team lead'",
    "svc: job job_1 waits for an answer",
  ]);
});

test("the question of a job that the watched one runs ends the watch with 3, too", async () => {
  const waiting = { ...base, status: JobStatus.PARKED, park: { reason: "child", stepId: "run", childJobId: "job_2" } };
  const { server, variables } = await startJobs({
    entries: [["job-status-changed", "", { to: "parked", reason: "child" }]],
    job: () => waiting as unknown as Job,
    children: [{ ...parked, id: "job_2" }],
    endsOpen: true,
  });
  await using _ = server;
  const { exitCode, noted } = startCommand(["jobs", "watch", "job_1", "--no-wait"], variables);
  expect(await exitCode).toBe(3);
  expect(noted).toEqual([
    "00:00:01 parked (child)",
    "child job job_2 asks:",
    "? Really [2J?",
    "  with team lead",
    "  Answer with one of:",
    `    svc answer ask_1 retry-with --as 'team lead' --overrides '{"min":7,"name":"sample-name"}'`,
    "    svc answer ask_1 abort --as 'team lead'",
    "svc: job job_1 waits for an answer",
  ]);
});

test("rows that failed are told by their first reason, and where the others are", async () => {
  const errors = [{ code: "provider_error", count: 1_200, firstOrdinal: 3, sample: "the app answered 500" }];
  const failed = {
    ...finished,
    status: JobStatus.FAILED,
    lastError: "ROWS_FAILED: step send: 1200 of 2000 rows failed",
    stepReceipts: [{ stepId: "send", kind: "map", state: "failed", errors }],
  };
  const { server, variables } = await startJobs({ entries: [], job: () => failed as unknown as Job });
  await using _ = server;
  const { exitCode, noted } = startCommand(["jobs", "watch", "job_1"], variables);
  expect(await exitCode).toBe(1);
  expect(noted.slice(0, 2)).toEqual([
    "send: provider_error, 1,200 times, first at row 3: the app answered 500",
    "`svc jobs show job_1` shows the others.",
  ]);
});

test("the commands name the service when this one did", async () => {
  const { server } = await startJobs({ entries: asking, job: () => parked as unknown as Job, endsOpen: true });
  await using _ = server;
  const options = ["--url", server.url, "--api-key", "secret-key"];
  const { exitCode, noted } = startCommand(["jobs", "watch", "job_1", ...options]);
  expect(await exitCode).toBe(3);
  expect(noted).toContain(`    svc answer ask_1 abort --as 'team lead' --url ${server.url}`);
  expect(noted.join("\n")).not.toContain("secret-key");
});

test("a question that was answered before is not waited on", async () => {
  const { server, variables } = await startJobs({ entries: [...asking, ...log] });
  await using _ = server;
  const { exitCode, noted } = startCommand(["jobs", "watch", "job_1"], variables);
  expect(await exitCode).toBe(0);
  expect(noted.join("\n")).not.toContain("svc answer");
});

test("with --wait a question is shown and waited on, and Ctrl-C ends the watch with 130, the job going on", async () => {
  const { server, variables } = await startJobs({
    entries: asking,
    job: () => parked as unknown as Job,
    endsOpen: true,
  });
  await using _ = server;
  const watch = startCommand(["jobs", "watch", "job_1", "--wait"], variables);
  await watch.line(/svc answer ask_1 abort/);
  watch.interrupt();
  expect(await watch.exitCode).toBe(130);
  expect(watch.noted.at(-1)).toMatch(
    /stopped watching, and the job continues: `svc jobs watch job_1` watches it again/,
  );
});

test.each([
  [JobStatus.FAILED, "failed: PAGE_LIMIT: too many"],
  [JobStatus.ABORTED, "was aborted: PAGE_LIMIT: too many"],
  [JobStatus.REJECTED, "was rejected: PAGE_LIMIT: too many"],
  [JobStatus.EXPIRED, "expired: PAGE_LIMIT: too many"],
  [JobStatus.CANCELLED, "was cancelled: PAGE_LIMIT: too many"],
])("a job of status %i ends a watch with 1 and why", async (status, text) => {
  const job = { ...finished, status, lastError: "PAGE_LIMIT: too many" } as unknown as Job;
  const { server, variables } = await startJobs({ job: () => job });
  await using _ = server;
  const { exitCode, noted } = startCommand(["jobs", "watch", "job_1"], variables);
  expect(await exitCode).toBe(1);
  expect(noted.at(-1)).toBe(`svc: job job_1 ${text}`);
});

test("on a screen one block shows every step, and the question until it is answered", async () => {
  let job = parked as unknown as Job;
  const { server, variables } = await startJobs({ entries: asking, job: () => job, endsOpen: true });
  await using _ = server;
  const drawn = Promise.withResolvers<void>();
  let last: readonly ScreenLine[] = [];
  const draw = (lines: readonly ScreenLine[]) => {
    last = lines;
    if (lines.some(({ text }) => text.includes("svc answer ask_1 abort"))) drawn.resolve();
  };
  const watch = startCommand(["jobs", "watch", "job_1"], variables, "", undefined, { rows: 20, draw, keep: () => {} });
  await drawn.promise;
  expect(last.map(({ text }) => text).slice(0, 5)).toEqual([
    "job_1 Count: parked (judgment at step gate)",
    "· fetch  call crm.list",
    "· send   map bot.send",
    "· gate   judge",
    "? Really [2J?",
  ]);
  job = finished as unknown as Job;
  watch.interrupt();
  expect(await watch.exitCode).toBe(130);
});
