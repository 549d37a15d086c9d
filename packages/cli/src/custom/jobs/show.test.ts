import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { JobStatus, JobsService } from "@svc/gen/jobs";
import { serveRoutes } from "@svc/testing/http";
import { expect, test } from "vitest";
import type { ScreenLine } from "../../command/screen.ts";
import { runTestCommand, startCommand } from "../../test-command.ts";

const at = (second: number) => timestampFromMs(second * 1_000);
const programJson = JSON.stringify({
  version: 1,
  title: "Ask twice",
  steps: [
    { id: "fetch", call: "crm.list" },
    { id: "gate", judge: "sure" },
    { id: "send", map: "fetch", do: [{ id: "s", call: "bot.send" }] },
    { id: "last", judge: "sure" },
  ],
});
const decision = (second: number) => ({ continuation: "proceed", at: at(second) });
// Receipts of two steps. `fetch` works for 2 s, and 3 s more after a person has answered the question of `gate`, which takes 100 s. `send`
// works for 4 s, with a question of 50 s in between.
const stepReceipts = [
  { stepId: "fetch", kind: "call", state: "completed", attempts: 2, startedAt: at(0), finishedAt: at(105) },
  {
    stepId: "gate",
    kind: "judge",
    state: "completed",
    attempts: 2,
    startedAt: at(2),
    finishedAt: at(125),
    decision: decision(125),
  },
  {
    stepId: "send",
    kind: "map",
    state: "partial",
    attempts: 1,
    startedAt: at(125),
    finishedAt: at(179),
    decision: decision(178),
  },
  { stepId: "last", kind: "judge", state: "", attempts: 1, startedAt: at(180) },
];
const asks = [
  { askedAt: at(180), stepId: "last" },
  { askedAt: at(128), stepId: "send", decision: decision(178) },
  { askedAt: at(105), stepId: "gate", decision: decision(125) },
  { askedAt: at(2), stepId: "gate", decision: decision(102) },
];
const estimate = { callsMin: 1, callsMax: 1, writesMax: 1, destructiveMax: 0, rowsMax: 1, asksMax: 1 };
const job = {
  id: "job_1",
  mode: "simulate",
  programJson,
  estimate,
  createdAt: at(0),
  status: JobStatus.PARKED,
  stepReceipts,
};

/** Starts a JobsService that has this job. It returns one question per page, and counts how often the questions are requested. */
async function startJobs() {
  const counts = { pages: 0 };
  const server = await serveRoutes((router) =>
    router.service(JobsService, {
      getJob: () => ({ job }),
      listJobEvents: () => ({ events: [{ type: "job-submitted", payloadJson: '{"mode":"live","sandbox":true}' }] }),
      listAsks: ({ jobId, pageToken }) => {
        counts.pages += 1;
        const index = Number(pageToken);
        const items = jobId === job.id ? asks.slice(index, index + 1) : [];
        return { asks: items, nextPageToken: index + 1 < asks.length ? String(index + 1) : "" };
      },
      async *watchJob({ afterSeq }, { signal }) {
        if (afterSeq === 0) yield { event: { jobId: "job_1", seq: 1, type: "job-submitted", payloadJson: "{}" } };
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      },
    }),
  );
  return { server, counts, variables: { SVC_URL: server.url, SVC_API_KEY: "key" } };
}

test("TOOK leaves out what a person took to answer, in the step that asked and in one that was repeated for it", async () => {
  const { server, counts, variables } = await startJobs();
  await using _ = server;
  const { code, printed } = await runTestCommand(["jobs", "show", "job_1"], variables);
  expect(code).toBe(0);
  const took = printed.flatMap((line) => /^(fetch|gate|send|last) .* {2}(\S.*)$/.exec(line)?.slice(1).join(": ") ?? []);
  expect(took).toEqual(["fetch: 5.0 s", "gate: 3.0 s", "send: 4.0 s", "last: -"]);
  expect(counts.pages).toBe(4);
});

test("a job whose apps were emulated says so, and a simulation where its writes are shown", async () => {
  const { server, variables } = await startJobs();
  await using _ = server;
  const { printed } = await runTestCommand(["jobs", "show", "job_1"], variables);
  expect(printed).toContainEqual(
    expect.stringMatching(/^sandbox +yes: results of calls are made up; no app was called$/),
  );
  expect(printed.join("\n")).toContain(
    "\nSimulated:\n`svc jobs steps job_1` shows the writes that it would have sent.",
  );
});

test("one of a thing is told in the singular", async () => {
  const { server, variables } = await startJobs();
  await using _ = server;
  const { printed } = await runTestCommand(["jobs", "show", "job_1"], variables);
  expect(printed.join("\n")).toMatch(
    /^estimate +1 to 1 call; up to 1 write, 0 of them destructive; 1 row; 1 question$/m,
  );
});

test("a watch on a screen tells the same", async () => {
  const { server, variables } = await startJobs();
  await using _ = server;
  const drawn = Promise.withResolvers<readonly ScreenLine[]>();
  const draw = (lines: readonly ScreenLine[]) => {
    if (lines.some(({ text }) => text.endsWith(" 5.0 s"))) drawn.resolve(lines);
  };
  const watch = startCommand(["jobs", "watch", "job_1"], variables, "", undefined, { rows: 20, draw, keep: () => {} });
  const texts = (await drawn.promise).map(({ text }) => text);
  expect(texts).toContainEqual(expect.stringMatching(/gate .* 3\.0 s$/));
  expect(texts).toContainEqual(expect.stringMatching(/send .* 4\.0 s$/));
  watch.interrupt();
  await watch.exitCode;
});
