import { GetStandingProgramResponseSchema, StandingRunSchema, StandingService } from "@svc/gen/standing";
import { type StandingRun, StandingRunState } from "@svc/sdk";
import { collectPages } from "../../command/client.ts";
import { command, type Run } from "../../command/declared.ts";
import { readText } from "../../command/input.ts";
import { parseCount } from "../../command/options.ts";
import { messageListText, messageText } from "../../text/message.ts";
import { plainText } from "../../text/plain.ts";
import { factLines, tableLines, timeText } from "../../text/table.ts";
import { type WatchOptions, watchJob, watchParts } from "../jobs/watch/watch-job.ts";
import { backfillLine } from "./backfill.ts";
import { passedOverText, pollFacts, programStateText, runHeader, runRow, runStateText } from "./text.ts";

type RunsValues = { readonly program: string; readonly skipped?: true; readonly limit: number };

/** The command `svc standing runs`, which lists the runs of a schedule, newest first, also those that svc skipped, or shows one run. */
export const addStandingRuns = command(
  StandingService.method.listStandingRuns,
  {
    says: "list the decisions about a standing program, newest first; or show one run",
    takes: { "<program>": ["slug or id of the program; or id of a run, srn_…", { fills: "standingProgramId" }] },
    options: [
      ["--skipped", "only skipped runs"],
      ["--reason <reason>", "only runs with this reason, such as overlap or missed"],
      ["--since <when>", "only runs decided at or after this time: 2h for two hours ago, or 2026-03-14T09:00:00Z"],
      ["--until <when>", "only runs decided before this time"],
      ["--limit <count>", "largest number of runs to list", { parse: parseCount, default: 50 }],
    ],
    json: "the runs as a JSON list",
    also: [[StandingService.method.getStandingRun, "<run>"]],
    examples: ["svc standing runs morning-report", "svc standing runs morning-report --skipped --since 2d"],
  },
  async ({ values: { program: id, skipped, limit }, context, project, asJson }: Run<RunsValues>, request) => {
    const { standing } = await project();
    const print = (runs: readonly StandingRun[]) => {
      for (const line of tableLines(runHeader, runs.map(runRow))) context.print(line);
    };
    if (id.startsWith("srn_")) {
      const { run } = await standing.getStandingRun({ id });
      if (run === undefined) return;
      return asJson ? context.print(messageText(StandingRunSchema, run)) : print([run]);
    }
    const state = skipped ? StandingRunState.SKIPPED : StandingRunState.UNSPECIFIED;
    const found = await collectPages(async (pageToken) => {
      const page = { ...request, state, pageSize: Math.min(limit, 500), pageToken };
      const { runs: items, nextPageToken } = await standing.listStandingRuns(page);
      return { items, nextPageToken };
    }, limit);
    if (asJson) context.print(messageListText(StandingRunSchema, found));
    else print(found);
  },
);

type RunValues = WatchOptions & { readonly input?: string; readonly watch?: true };

/** The command `svc standing run`, which starts a run of a standing program (a program that starts jobs on a schedule or event) now. */
export const addStandingRun = command(
  StandingService.method.runStandingProgram,
  {
    says: "start a run of a standing program now, by the rules for due runs",
    takes: { "<program>": ["its slug or its id, stp_…", { fills: "id" }] },
    options: [
      ["--input <file>", "file of the input, or - for standard input (default: the input that the definition makes)"],
      ["--event <id>", "event of its trigger, evt_…, from which the definition makes the input", { fills: "eventId" }],
      ["--idempotency-key <text>", "make the command safe to repeat: with the same key, svc returns the same run"],
      ["--watch", "show the progress of its job until it ends"],
    ],
    ...watchParts,
    examples: [
      "svc standing run morning-report --watch",
      "svc standing run tell-sales --event evt_01m7z7kb6becaathdprccakdr0",
    ],
  },
  async ({ values, context, project, asJson }: Run<RunValues>, request) => {
    const client = await project();
    const { input, watch } = values;
    const inputJson = input === undefined ? "" : await readText(input, input === "-" ? "stdin" : input, context);
    const { run } = await client.standing.runStandingProgram({ ...request, inputJson });
    if (run === undefined) return;
    const { id, jobId } = run;
    if (watch && jobId !== "") {
      context.note(jobId);
      await watchJob(client, jobId, { options: values, context });
      return;
    }
    context.print(asJson ? messageText(StandingRunSchema, run) : id);
    context.note(`The run is ${runStateText(run)}${jobId === "" ? "" : `; its job is ${jobId}`}.`);
  },
);

/** Maximum number of the latest runs that `svc standing show` prints for a schedule. */
const runsShown = 10;

/** The command `svc standing show`, which shows a schedule with its next start times and its latest runs. */
export const addStandingShow = command(
  StandingService.method.getStandingProgram,
  {
    says: "show a standing program: its next times, its use, and its latest runs",
    takes: { "<program>": "its slug or its id, stp_…" },
    json: "the program and its versions as JSON",
    examples: ["svc standing show morning-report"],
  },
  async ({ values: { program: id }, context, project, asJson }: Run<{ readonly program: string }>) => {
    const { standing: client } = await project();
    const found = await client.getStandingProgram({ id });
    const { standingProgram: program, backfill, passedOver } = found;
    if (program === undefined) return;
    if (asJson) return context.print(messageText(GetStandingProgramResponseSchema, found));
    const { counts, usedToday } = program;
    const facts = factLines([
      ["id", program.id],
      ["slug", program.slug],
      ["title", plainText(program.title)],
      ["state", programStateText(program)],
      ["why", plainText(program.pauseDetail)],
      ["version", String(program.version)],
      ["pending", program.pendingVersion === 0 ? "" : `version ${program.pendingVersion} waits for approval`],
      ["approval", program.approvalId],
      ["key", program.keyId],
      ["next", program.nextTimes.map((time) => timeText(time)).join(", ")],
      ["zone", program.sourceKind === "schedule" ? program.timeZone : ""],
      ["runs", `${counts?.started} started, ${counts?.skipped} skipped, ${counts?.missed} missed`],
      ["passed", passedOver === 0 ? "" : passedOverText(passedOver)],
      ["open", `${counts?.underWay} under way, ${counts?.queued} waiting`],
      ...(backfill === undefined ? [] : [["backfill", backfillLine(backfill)] as const]),
      ...pollFacts(program.pollState),
      ["today", `${usedToday?.runs} runs, ${usedToday?.toolCalls} calls, ${usedToday?.writes} writes`],
    ]);
    for (const line of facts) context.print(line);
    const { runs } = await client.listStandingRuns({ standingProgramId: program.id, pageSize: runsShown });
    if (runs.length === 0) return;
    context.print("");
    for (const line of tableLines(runHeader, runs.map(runRow))) context.print(line);
  },
);
