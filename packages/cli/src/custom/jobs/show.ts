import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Remedy } from "@svc/gen/failures";
import { GetJobResponseSchema, JobsService } from "@svc/gen/jobs";
import type { Job, Receipt, StepReceipt, SvcClient } from "@svc/sdk";
import type { ProjectOptions } from "../../command/client.ts";
import type { CommandContext } from "../../command/context.ts";
import { command, type Run } from "../../command/declared.ts";
import type { JsonOption } from "../../command/options.ts";
import { indentJson, messageText } from "../../text/message.ts";
import { enumWords, numberText, plainText, spanText } from "../../text/plain.ts";
import { countText, factLines, tableLines, timeText } from "../../text/table.ts";
import { questionLines, questionOfJob } from "../asks/question.ts";
import { readProgram } from "./shown-program.ts";
import { callsText, readWaits, rowsText, standingText, statusText, tookText, type Wait } from "./text.ts";
import { repeatedOptions } from "./watch/watch-job.ts";

type ShowOptions = ProjectOptions & JsonOption;
type Fact = readonly [name: string, value: string];

/** The command `svc jobs show`, which shows one job: its state, its steps, its receipt, and what it waits for. */
export const addJobShow = command(
  JobsService.method.getJob,
  {
    says: "show one job: its state, its steps with rows, calls and undo, its receipt, what it waits for",
    takes: { "<id>": "id of the job, job_…" },
    json: "the job as JSON, with its simulation if it has one",
    more: "\nTOOK is the time from the first start of a step to its last end, without waits for a person.",
    examples: [
      "svc jobs show job_01h455vb4pex5vsknk084sn02q",
      "svc jobs show job_01h455vb4pex5vsknk084sn02q --json | jq .job.receipt",
    ],
  },
  async ({ values: options, context, project, asJson }: Run<ShowOptions & { readonly id: string }>) => {
    const { id } = options;
    const client = await project();
    const found = await client.jobs.getJob({ id });
    if (asJson) return context.print(messageText(GetJobResponseSchema, found));
    const { job, simulation } = found;
    if (job === undefined) return;
    const sandbox = (await isInSandbox(client, id)) ? "yes: results of calls are made up; no app was called" : "";
    printFacts([...jobFacts(job, simulation), ["sandbox", sandbox]], context);
    printPart("Steps", stepTable(job, await readWaits(client, job)), context);
    printPart("Errors", errorLines(job), context);
    printPart("Earlier attempts", job.attempts.map(attemptLine), context);
    if (job.receipt !== undefined) {
      context.print("\nReceipt:");
      printFacts(receiptFacts(job.receipt), context);
      if (job.receipt.resultJson !== "") printPart("Result", indentJson(job.receipt.resultJson).split("\n"), context);
    }
    if (job.mode === "simulate") {
      const command = ["svc jobs steps", job.id, ...repeatedOptions(options)].join(" ");
      printPart("Simulated", [`\`${command}\` shows the writes that it would have sent.`], context);
    }
    const question = questionOfJob(job);
    if (question !== undefined)
      printPart("Waits for an answer", questionLines(question, repeatedOptions(options)), context);
  },
);

/** True if the job was submitted in the sandbox. The first entry of the job's log contains this. */
async function isInSandbox({ jobs }: SvcClient, jobId: string): Promise<boolean> {
  const { events } = await jobs.listJobEvents({ jobId, pageSize: 1 });
  return events.some(({ type, payloadJson }) => type === "job-submitted" && JSON.parse(payloadJson).sandbox === true);
}

function printFacts(facts: readonly Fact[], context: CommandContext): void {
  for (const line of factLines(facts)) context.print(line);
}

function printPart(title: string, lines: readonly string[], context: CommandContext): void {
  if (lines.length === 0) return;
  context.print(`\n${title}:`);
  for (const line of lines) context.print(line);
}

function jobFacts(job: Job, simulation: Job | undefined): Fact[] {
  const { estimate, saga, park } = job;
  const wakes = park?.wakeAt === undefined ? "" : `, until ${timeText(park.wakeAt)}`;
  return [
    ["job", job.id],
    ["title", plainText(readProgram(job).title)],
    ["status", `${standingText(job)}${wakes}`],
    ["attempt", job.attempt > 1 ? String(job.attempt) : ""],
    ["why", plainText(job.failure?.title ?? "")],
    ["may help", (job.failure?.remedy ?? []).map((remedy) => enumWords(Remedy, remedy)).join(", ")],
    ["error", plainText(job.lastError)],
    ["mode", job.mode],
    ["submitted", timeText(job.createdAt)],
    [
      "ended",
      job.finishedAt === undefined
        ? ""
        : `${timeText(job.finishedAt)}, ${laterText(job.createdAt, job.finishedAt)} later`,
    ],
    ["skill", job.skillSlug],
    ["simulation", simulation === undefined ? "" : `${simulation.id}, ${standingText(simulation)}`],
    ["simulates", job.simulatedFrom],
    ["program hash", job.programHash],
    ["estimate", estimate === undefined ? "" : estimateText(estimate)],
    ["undo", saga === undefined || saga.state === "none" ? "" : undoText(saga)],
  ];
}

/**
 * Returns one line with the maximum that a program can do: calls, writes, rows and questions. It also names the steps that cannot be
 * undone.
 */
export function estimateText({
  callsMin,
  callsMax,
  writesMax,
  destructiveMax,
  rowsMax,
  asksMax,
  notCompensable,
}: NonNullable<Job["estimate"]>): string {
  const parts = [
    `${numberText(callsMin)} to ${numberText(callsMax)} ${callsMax === 1 ? "call" : "calls"}`,
    `up to ${numberText(writesMax)} ${writesMax === 1 ? "write" : "writes"}, ${numberText(destructiveMax)} of them destructive`,
    `${numberText(rowsMax)} ${rowsMax === 1 ? "row" : "rows"}`,
    countText(asksMax, "question"),
    ...(notCompensable.length === 0 ? [] : [`no undo for ${notCompensable.join(", ")}`]),
  ];
  return parts.join("; ");
}

function undoText({ state, entries, done, failed }: NonNullable<Job["saga"]>): string {
  return `${state}: ${countText(entries, "entry").replace("entrys", "entries")}, ${done} undone, ${failed} failed`;
}

function stepTable(job: Job, waits: readonly Wait[]): string[] {
  const receipts = new Map(job.stepReceipts.map((receipt) => [receipt.stepId, receipt]));
  const rows = readProgram(job).steps.map(({ id, kind, toolSlug, depth }) => {
    const receipt = receipts.get(id);
    const name = `${"  ".repeat(depth)}${id}`;
    return [
      name,
      kind,
      toolSlug || "-",
      ...(receipt === undefined ? ["-", "-", "-", "-", "-"] : stepCells(receipt, waits)),
    ];
  });
  return tableLines(["STEP", "KIND", "TOOL", "STATE", "ROWS", "CALLS", "UNDO", "TOOK"], rows);
}

function stepCells(receipt: StepReceipt, waits: readonly Wait[]): string[] {
  const { kind, state, attempts, rows, calls, undo } = receipt;
  const again = attempts > 1 ? `, attempt ${attempts}` : "";
  const undone = undo === undefined ? "-" : `${undo.done} done${undo.failed === 0 ? "" : `, ${undo.failed} failed`}`;
  return [
    `${state || "at work"}${again}`,
    rowsText(rows, kind) || "-",
    callsText(calls) || "-",
    undone,
    tookText(receipt, waits) ?? "-",
  ];
}

function laterText(from: Job["createdAt"], to: NonNullable<Job["createdAt"]>): string {
  return from === undefined ? "-" : spanText(timestampMs(to) - timestampMs(from));
}

function attemptLine({ attempt, status, finishedAt, lastError }: Job["attempts"][number]): string {
  const why = lastError === "" ? "" : `: ${plainText(lastError)}`;
  return `${attempt}  ${statusText(status)} at ${timeText(finishedAt)}${why}`;
}

/** Returns lines with the errors of a job's steps, and with the answers that people gave in these steps. */
function errorLines({ stepReceipts }: Job): string[] {
  return stepReceipts.flatMap(({ stepId, errors, rows }) =>
    errors.map(({ code, count, firstOrdinal, sample }) => {
      const first = rows === undefined ? "" : `, first at row ${firstOrdinal}`;
      return `${stepId}  ${code}, ${countText(count, "time")}${first}: ${plainText(sample)}`;
    }),
  );
}

function receiptFacts({ outcome, rows, calls, limits, asks, approvals, receiptHash, lastSeq }: Receipt): Fact[] {
  const asked = asks === undefined || asks.raised === 0 ? "" : askCounts(asks);
  return [
    ["outcome", outcome],
    ["rows", rows === undefined || rows.in === 0 ? "" : rowsText(rows, "map")],
    ["calls", callsText(calls)],
    ["limits", limitsText(limits)],
    ["questions", asked],
    ["approvals", approvals.map(approvalText).join("; ")],
    ["log", countText(lastSeq, "entry").replace("entrys", "entries")],
    ["hash", receiptHash],
  ];
}

function askCounts({ raised, answered, defaulted, withdrawn, refusedAnswers }: NonNullable<Receipt["asks"]>): string {
  return `${raised} asked: ${answered} answered, ${defaulted} by default, ${withdrawn} withdrawn; ${countText(refusedAnswers, "answer")} refused`;
}

function approvalText({ stepId, decision }: Receipt["approvals"][number]): string {
  const what = stepId === "" ? "the plan" : `step ${stepId}`;
  if (decision === undefined) return `${what}: withdrawn`;
  return `${what}: ${decision.continuation} by ${plainText(decision.principalId)} at ${timeText(decision.at)}`;
}

function limitsText(limits: Receipt["limits"]): string {
  const { used, max } = limits ?? {};
  if (used === undefined || max === undefined) return "";
  const counts = [
    ["toolCalls", "calls"],
    ["writes", "writes"],
    ["rows", "rows"],
    ["asks", "questions"],
  ] as const;
  return counts.map(([name, word]) => `${numberText(used[name])} of ${numberText(max[name])} ${word}`).join(", ");
}
