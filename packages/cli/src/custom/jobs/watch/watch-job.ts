import { constants } from "node:os";
import { JobSchema, JobsService } from "@svc/gen/jobs";
import type { Job, JobEvent, SvcClient } from "@svc/sdk";
import type { ProjectOptions } from "../../../command/client.ts";
import type { CommandContext } from "../../../command/context.ts";
import { command, type Run } from "../../../command/declared.ts";
import { CommandError } from "../../../command/error.ts";
import type { JsonOption } from "../../../command/options.ts";
import { indentJson, messageText } from "../../../text/message.ts";
import { numberText, plainText } from "../../../text/plain.ts";
import { questionLines, questionOfJob } from "../../asks/question.ts";
import { callsText, hasEnded, isHeld, rowsText, standingText, statusText } from "../text.ts";
import { createBlockView } from "./block.ts";
import { watchChildren } from "./children.ts";
import { followJob } from "./follow.ts";
import { createLineView, type WatchView } from "./lines.ts";

/** The options of a command that watches a job. `wait`: true for `--wait`, false for `--no-wait`, undefined if neither is given. */
export type WatchOptions = ProjectOptions & JsonOption & { wait?: boolean };

/** Exit code of a watch that ended because the job waits for a person (for an answer, a release or a resume). */
const waitsExitCode = 3;
const interruptedExitCode = 128 + constants.signals.SIGINT;

/** Help text that says how a watch ends. All commands that watch a job print it. */
export const watchNotes = `
Progress goes to standard error, at a terminal as one block that is redrawn; the program's declared result goes to standard
output as JSON. A broken connection continues where it was. Ctrl-C stops watching, and the job continues.

Exit status: 0 succeeded; 1 failed, aborted, rejected, expired or cancelled, or the service refused or was not reachable;
2 wrong options; 3 the job waits for a person's answer, or for its release or resumption; 130 Ctrl-C. At a terminal the
command shows a question and waits for its answer; otherwise it ends with 3. --wait and --no-wait choose one of the two.`;

/**
 * Parts of a command's declaration that are the same for all commands that watch a job: the help text of `--json`, the options `--wait` and
 * `--no-wait`, and the notes on how a watch ends.
 */
export const watchParts = {
  json: "the job as JSON instead of its result",
  lastOptions: [
    ["--wait", "if the job asks a person, wait for the answer (default at a terminal)"],
    ["--no-wait", "if the job asks a person, end with exit status 3 (default otherwise)"],
  ],
  more: watchNotes,
} as const;

/** Returns the options with which another command reaches the same service. They do not contain the API key, because it is a secret. */
export function repeatedOptions({ url }: ProjectOptions): string[] {
  return url === undefined ? [] : ["--url", url];
}

/**
 * Shows a job until it has ended. If the user did not choose to wait for answers of people, stops as soon as the job waits for a person. If
 * the job succeeds, prints the result that its program declares. In all other cases rejects with CommandError, whose exit code gives the
 * reason.
 */
export async function watchJob(
  client: SvcClient,
  jobId: string,
  { options, context }: { options: WatchOptions; context: CommandContext },
): Promise<void> {
  const signal = context.untilInterrupted();
  const isWaiting = options.wait ?? context.screen !== undefined;
  const start = await readJob(client, jobId);
  const words = repeatedOptions(options);
  const { screen } = context;
  const view =
    screen === undefined ? createLineView(start, context) : createBlockView(client, start, { screen, options: words });
  const enough = new AbortController();
  const left = AbortSignal.any([signal, enough.signal]);
  const children = watchChildren(client, jobId, {
    signal: left,
    question: ({ id, question }) => {
      view.question([`child job ${id} asks:`, ...questionLines(question, words)]);
      if (!isWaiting) enough.abort();
    },
  });
  try {
    for await (const event of followJob(client, { jobId, signal: left, onBreak: (reason) => view.broken(reason) })) {
      view.event(event);
      children.event(event);
      const waits = (await showQuestion(client, event, { view, words })) ?? (await findHeld(client, event));
      if (waits !== undefined && !isWaiting) break;
    }
  } catch (err) {
    await view.close();
    throw err;
  } finally {
    enough.abort();
    await children.stopped;
  }
  if (signal.aborted) {
    await view.close();
    throw interrupted(jobId, words);
  }
  const last = await readJob(client, jobId);
  await view.close(last);
  printOutcome(last, options, context);
}

/**
 * Prints the declared result of a successful job, or with `json` the job. Rejects with CommandError for a job that has ended in another way
 * or has not ended.
 */
export function printOutcome(job: Job, options: WatchOptions, context: CommandContext): void {
  if (options.json) context.print(messageText(JobSchema, job));
  if (!hasEnded(job))
    throw new CommandError(isHeld(job) ? heldText(job) : openText(job, repeatedOptions(options)), waitsExitCode);
  printEnd(job, options, context);
}

function openText(job: Job, words: readonly string[]): string {
  if (job.park !== undefined && job.park.reason !== "wait") return `job ${job.id} waits for an answer`;
  const watch = ["svc jobs watch", job.id, ...words].join(" ");
  return `job ${job.id} has not ended: it is ${standingText(job)}; \`${watch}\` follows it`;
}

/**
 * Returns the job if this log entry parked it (suspended it), and it is still parked by svc, by an administrator or by a request to pause
 * it. Otherwise returns undefined.
 */
async function findHeld(client: SvcClient, { type, jobId, payloadJson }: JobEvent): Promise<Job | undefined> {
  if (type !== "job-status-changed" || JSON.parse(payloadJson).to !== "parked") return undefined;
  const job = await readJob(client, jobId);
  return isHeld(job) ? job : undefined;
}

function heldText(job: Job): string {
  if (job.park?.reason === "paused") return `job ${job.id} is ${standingText(job)}; \`svc jobs resume\` continues it`;
  const why = job.park?.reason === "poisoned" && job.lastError !== "" ? `: ${plainText(job.lastError)}` : "";
  return `job ${job.id} is ${standingText(job)}${why}; an administrator continues it with \`svc jobs release\``;
}

async function readJob({ jobs }: SvcClient, id: string): Promise<Job> {
  const { job } = await jobs.getJob({ id });
  if (job === undefined) throw new CommandError(`the service returned no job ${id}`);
  return job;
}

/**
 * Shows a question if a log entry raised or escalated it and the job still waits for it. Returns the job if the question was shown.
 * Otherwise returns undefined.
 */
async function showQuestion(
  client: SvcClient,
  { type, jobId, payloadJson }: JobEvent,
  { view, words }: { view: WatchView; words: readonly string[] },
): Promise<Job | undefined> {
  if (!["ask-raised", "ask-escalated", "ask-exhausted"].includes(type)) return undefined;
  const job = await readJob(client, jobId);
  const question = questionOfJob(job);
  if (question === undefined || JSON.parse(payloadJson).requestId !== question.requestId) return undefined;
  view.question(questionLines(question, words));
  return job;
}

function interrupted(jobId: string, words: readonly string[]): CommandError {
  const more = words.length === 0 ? "" : ` ${words.join(" ")}`;
  const text = `stopped watching, and the job continues: \`svc jobs watch ${jobId}${more}\` watches it again, \`svc jobs cancel ${jobId}${more}\` ends it`;
  return new CommandError(text, interruptedExitCode);
}

/** Prints a note about failed rows: the reason of the first failure, and the command that shows the other failures. */
function noteRows({ id, lastError, stepReceipts }: Job, context: CommandContext): void {
  const [, stepId] = /^ROWS_(?:FAILED|UNKNOWN): step (\w+):/.exec(lastError) ?? [];
  const errors = stepReceipts.find((receipt) => receipt.stepId === stepId)?.errors ?? [];
  const [first] = errors.filter(({ code }) => !code.startsWith("ROWS_"));
  if (first === undefined) return;
  const count = `${first.count === 1 ? "" : `${numberText(first.count)} times, first at `}row ${first.firstOrdinal}`;
  context.note(`${stepId}: ${first.code}, ${count}: ${plainText(first.sample)}`);
  context.note(`\`svc jobs show ${id}\` shows the others.`);
}

function printEnd(job: Job, { json }: WatchOptions, context: CommandContext): void {
  const { receipt, lastError, failure } = job;
  const name = statusText(job.status);
  const parts = [rowsText(receipt?.rows, "map"), callsText(receipt?.calls)].filter(
    (part) => part !== "" && part !== "0 rows",
  );
  const facts = parts.length === 0 ? "" : `: ${parts.join("; ")}`;
  if (name !== "succeeded") {
    const reason = failure?.title ?? lastError;
    const why = reason === "" ? "" : `: ${plainText(reason)}`;
    noteRows(job, context);
    throw new CommandError(`job ${job.id} ${name === "failed" || name === "expired" ? name : `was ${name}`}${why}`);
  }
  const partly = receipt?.outcome === "partial" ? " partly" : "";
  context.note(`job ${job.id} succeeded${partly}${facts}`);
  // If a job succeeded and still has an error, only its declared result could not be computed. The work of the job is done.
  if (lastError !== "") context.note(`its result could not be given: ${plainText(lastError)}`);
  if (json !== true && receipt !== undefined && receipt.resultJson !== "")
    context.print(indentJson(receipt.resultJson));
}

/** The command `svc jobs watch`, which shows a job's progress and its questions until the job ends. */
export const addJobWatch = command(
  JobsService.method.watchJob,
  {
    says: "show a job's progress from start to end: steps, rows, pace, time left, and its questions",
    takes: { "<id>": "id of the job, job_…" },
    ...watchParts,
    examples: [
      "svc jobs watch job_01h455vb4pex5vsknk084sn02q",
      "svc jobs watch job_01h455vb4pex5vsknk084sn02q --no-wait || echo $?",
    ],
  },
  async ({ values: options, context, project }: Run<WatchOptions & { readonly id: string }>) => {
    const { id } = options;

    const client = await project();
    await watchJob(client, id, { options, context });
  },
);
