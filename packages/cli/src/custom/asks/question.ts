import { timestampMs } from "@bufbuild/protobuf/wkt";
import { sampleValue } from "@svc/catalog/sample-value";
import { systemClock } from "@svc/core";
import { type Ask, AskState, type Job, type SvcClient } from "@svc/sdk";
import { CommandError } from "../../command/error.ts";
import { plainLines, plainText, shellWord, spanText } from "../../text/plain.ts";
import { readProgram } from "../jobs/shown-program.ts";
import { rowsText } from "../jobs/text.ts";

/** A question that a job asks a person. It comes from the job itself or from the list of asks (questions of jobs). */
export type Question = Pick<
  Ask,
  | "requestId"
  | "stepId"
  | "question"
  | "continuations"
  | "answerSchemaJson"
  | "principalId"
  | "deliveredPrincipals"
  | "exhausted"
> & {
  /**
   * Time in epoch milliseconds at which the question goes to the next hop (stage of the escalation), or its default answer is used.
   * Undefined if the question has no deadline.
   */
  readonly deadlineMs: number | undefined;
  readonly isApproval: boolean;
  /** Text for a question that a step asks about its rows: how many rows succeeded, failed or were skipped. */
  readonly rows: string;
  /** The params of the program. A person can change them by overrides (new values) in the answer. */
  readonly params: Readonly<Record<string, unknown>>;
};

/** Returns the question that a job waits for. Returns undefined if the job waits for no question. */
export function questionOfJob(job: Job): Question | undefined {
  const { park, pendingAsk } = job;
  const { judgment } = park ?? {};
  if (park === undefined || judgment === undefined || pendingAsk === undefined) return undefined;
  const { requestId, question, continuations, answerSchemaJson, counts } = judgment;
  return {
    ...heldBy(pendingAsk),
    ...{ requestId, question, continuations, answerSchemaJson, stepId: park.stepId },
    rows: rowsText(counts, "map"),
    params: readProgram(job).params,
  };
}

/**
 * Returns a question for display on the terminal from an ask (a question of a job to a person). Nothing about the ask's job was read, so
 * `rows` and `params` are empty.
 */
export function questionOfAsk(ask: Ask): Question {
  const { requestId, question, continuations, answerSchemaJson, stepId } = ask;
  return { ...heldBy(ask), ...{ requestId, question, continuations, answerSchemaJson, stepId }, rows: "", params: {} };
}

function heldBy({ principalId, deliveredPrincipals, exhausted, deadlineAt, approvalId }: Ask) {
  const deadlineMs = deadlineAt === undefined ? undefined : timestampMs(deadlineAt);
  return { principalId, deliveredPrincipals, exhausted, deadlineMs, isApproval: approvalId !== "" };
}

/**
 * Returns a question as lines: its text, the person who is asked, and the commands that answer it. `options`: the options that these
 * commands need to reach the service.
 */
export function questionLines(question: Question, options: readonly string[]): string[] {
  // Each line of the question's text is marked, so that the user can tell it from the lines of the command.
  const [first, ...more] = plainLines(question.question);
  const rows = question.rows === "" ? [] : [`  rows: ${question.rows}`];
  return [
    `? ${first}`,
    ...more.map((line) => `  | ${line}`),
    ...rows,
    `  ${holderText(question)}`,
    "  Answer with one of:",
    ...answerCommands(question, options).map((command) => `    ${command}`),
  ];
}

function holderText({ principalId, deliveredPrincipals, exhausted, deadlineMs, isApproval }: Question): string {
  const reached = deliveredPrincipals.map(plainText).join(", ");
  if (isApproval) return `approval by one of: ${reached}; there is no deadline`;
  if (exhausted) return `the escalation has ended; ${reached} can still answer`;
  const others = deliveredPrincipals.length > 1 ? `, and answerable by ${reached}` : "";
  const leftMs = deadlineMs === undefined ? undefined : deadlineMs - systemClock.now();
  const until = leftMs === undefined ? "" : leftMs > 0 ? `, for ${spanText(leftMs)} more` : ", whose time is over";
  return `with ${plainText(principalId)}${until}${others}`;
}

/** Returns the commands that answer a question: one for each continuation (possible answer). */
function answerCommands(question: Question, options: readonly string[]): string[] {
  const { requestId, continuations, principalId, deliveredPrincipals } = question;
  const principal = deliveredPrincipals.includes(principalId) ? principalId : (deliveredPrincipals[0] ?? principalId);
  return continuations.map((continuation) => {
    const words = ["svc", "answer", requestId, continuation, "--as", principal];
    const overrides = continuation === "retry-with" ? sampleOverrides(question) : undefined;
    if (overrides !== undefined) words.push("--overrides", overrides);
    return [...words, ...options].map(shellWord).join(" ");
  });
}

/**
 * Returns an example of the overrides (new values of params) that an answer may contain. Uses the current values if they are known. Returns
 * undefined if the question accepts no overrides.
 */
function sampleOverrides({ answerSchemaJson, params }: Question): string | undefined {
  if (answerSchemaJson === "") return undefined;
  const sample: unknown = sampleValue(JSON.parse(answerSchemaJson), "value", systemClock.now());
  if (typeof sample !== "object" || sample === null) return JSON.stringify(sample);
  const entries = Object.entries(sample).map(([name, value]) => [
    name,
    Object.hasOwn(params, name) ? params[name] : value,
  ]);
  return JSON.stringify(Object.fromEntries(entries));
}

/**
 * Returns the ask (a question to a person) with this id. Searches the pending asks first, then all asks. Rejects with CommandError if there
 * is no such ask.
 */
export async function findAsk({ jobs }: SvcClient, requestId: string): Promise<Ask> {
  for (const state of [AskState.PENDING, AskState.UNSPECIFIED]) {
    let pageToken = "";
    do {
      const page = await jobs.listAsks({ state, pageSize: 500, pageToken });
      const found = page.asks.find((ask) => ask.requestId === requestId);
      if (found !== undefined) return found;
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  }
  throw new CommandError(`there is no ask ${requestId}; \`svc asks\` lists the asks`);
}
