import { readAppError } from "./app-error.ts";
import { appName, appParts, callRemedies, callSentence } from "./call-failure.ts";
import { durationWords, type Failure, type FailureRemedy, failureOf } from "./failure.ts";

/** The receipt (stored summary) of a step, as far as it explains a failure. */
export type FailedStep = {
  readonly stepId: string;
  readonly kind: string;
  readonly toolSlug: string;
  readonly startedAt: number;
  readonly rows?: { readonly in: number; readonly failed: number; readonly unknown: number } | undefined;
  readonly calls?: { readonly retried: number } | undefined;
  readonly errors: readonly {
    readonly code: string;
    readonly count: number;
    readonly firstOrdinal: number;
    readonly sample: string;
  }[];
  readonly decision?: { readonly continuation: string; readonly principalId: string; readonly at: number } | undefined;
};

/**
 * A job with the facts that explain its failure. `steps`: empty if they were not read. `deadlineSeconds`: the time limit of the program.
 * `entities`: entities (customers or users) whose accounts the program uses.
 */
export type ExplainedJob = {
  readonly status: string;
  /** The job's last error: `CODE: step ID: message`. */
  readonly lastError: string;
  /** Time of the failure, epoch milliseconds. */
  readonly atMs: number;
  readonly park: { readonly reason: string; readonly stepId: string } | null;
  readonly steps?: readonly FailedStep[];
  readonly deadlineSeconds?: number | undefined;
  readonly entities?: readonly string[];
};

/** Returns why a job failed, or why it cannot continue without a person. Undefined if it did not fail. */
export function jobFailure(job: ExplainedJob): Failure | undefined {
  const { status, park, atMs } = job;
  switch (status) {
    case "failed":
      return errorFailure(job);
    case "expired": {
      const { deadlineSeconds } = job;
      const limit =
        deadlineSeconds === undefined ? "before its deadline" : `within ${durationWords(deadlineSeconds * 1_000)}`;
      return ended(atMs, "DEADLINE_EXCEEDED", `Not done ${limit}`, ["retry_job", "raise_limit"]);
    }
    case "rejected":
      return ended(atMs, "REJECTED", "A person did not approve the program", ["edit_program"]);
    case "aborted":
      return abortFailure(job);
    case "parked":
      return park === null ? undefined : parkFailure(job, park);
    default:
      return undefined;
  }
}

function ended(atMs: number, code: string, title: string, remedies: FailureRemedy[], stepId = ""): Failure {
  return failureOf("job", { code, title, remedies, atMs, stepId });
}

function abortFailure({ steps = [], atMs }: ExplainedJob): Failure {
  const step = steps.findLast(({ decision }) => decision?.continuation === "abort");
  const { decision, stepId = "", kind = "", startedAt = 0 } = step ?? {};
  const at = stepId === "" ? "" : ` at step ${stepId}`;
  if (decision === undefined) return ended(atMs, "ABORTED", "A person stopped the job", ["retry_job"]);
  if (decision.principalId !== "")
    return ended(atMs, "ABORTED", `${decision.principalId} stopped the job${at}`, ["retry_job"], stepId);
  // A step of the kind `judge` asks when it starts. Other steps ask later, so their waiting time is not known here.
  const waited = kind === "judge" ? ` for ${durationWords(decision.at - startedAt)}` : " in time";
  return ended(atMs, "NOT_ANSWERED", `No answer came${waited}${at}`, ["ask_again"], stepId);
}

function parkFailure(job: ExplainedJob, park: NonNullable<ExplainedJob["park"]>): Failure | undefined {
  const { lastError, steps = [], atMs } = job;
  const step = steps.find(({ stepId }) => stepId === park.stepId);
  const { toolSlug = "" } = step ?? {};
  const base = { stepId: park.stepId, toolSlug, atMs };
  switch (park.reason) {
    case "in_doubt": {
      const title = `svc cannot know if ${appName(toolSlug)} received the write of ${placeOf(step, park.stepId)}`;
      return failureOf("job", { ...base, code: "outcome_unknown", title, remedies: ["answer_ask", "check_app"] });
    }
    case "undo_stuck": {
      const title = `svc could not undo a call of step ${park.stepId}`;
      return failureOf("job", { ...base, code: "UNDO_STUCK", title, remedies: ["answer_ask"] });
    }
    case "poisoned": {
      const { code, message } = readError(lastError);
      const title = `svc stopped the job: ${message || "it crashed or blocked its nodes"}`;
      return failureOf("job", { ...base, code: code || "JOB_POISONED", title, remedies: ["resume"] });
    }
    default:
      return undefined;
  }
}

/** Returns the place of a write in words: the row, if the step processes rows, or the step. */
function placeOf(step: FailedStep | undefined, stepId: string): string {
  const first = step?.errors.find(({ code }) => code === "outcome_unknown");
  return step?.rows === undefined || first === undefined ? `step ${stepId}` : `row ${first.firstOrdinal}`;
}

/** Returns the parts of a job's last error. Errors of a step have the form `CODE: step ID: message`, others `CODE: message`. */
function readError(lastError: string): { readonly code: string; readonly stepId: string; readonly message: string } {
  const [, code = "", stepId = "", message = lastError] =
    /^([A-Za-z][A-Za-z_]*): (?:step ([^\s:]+): )?([\s\S]*)$/.exec(lastError) ?? [];
  return { code, stepId, message };
}

const callOutcome = /^[a-z]/;

function errorFailure(job: ExplainedJob): Failure {
  const { atMs } = job;
  const { code, stepId, message } = readError(job.lastError);
  const step = job.steps?.find((one) => one.stepId === stepId);
  if (code === "ROWS_FAILED" || code === "ROWS_UNKNOWN") return rowsFailure(job, { step, stepId, code, message, atMs });
  const toolSlug = step?.toolSlug ?? "";
  if (callOutcome.test(code)) return stepCallFailure(job, { step, stepId, code, message, atMs });
  const [title, remedies] = ownSentence({ code, stepId, message });
  return failureOf("job", { code: code || "FAILED", stepId, toolSlug, atMs, title, remedies }, message);
}

type StepError = {
  readonly step: FailedStep | undefined;
  readonly stepId: string;
  readonly code: string;
  readonly message: string;
  readonly atMs: number;
};

/** Returns the failure of a step because its one call failed. */
function stepCallFailure(job: ExplainedJob, { step, stepId, code, message, atMs }: StepError): Failure {
  const error = readAppError(message);
  const { toolSlug = "", calls } = step ?? {};
  const [entityId = ""] = job.entities?.length === 1 ? job.entities : [];
  const status = error?.status ?? 0;
  const facts = { outcome: code, toolSlug, entityId, error, status, message, stepId, what: "the call" };
  return failureOf(
    "job",
    {
      ...{ code, stepId, toolSlug, entityId, atMs, ...appParts(error, status) },
      title: callSentence({ ...facts, times: (calls?.retried ?? 0) + 1 }),
      remedies: callRemedies(code, facts, true),
    },
    message,
  );
}

/** Returns the failure of a step because too many of its rows failed. The most frequent error of the rows is the cause. */
function rowsFailure(job: ExplainedJob, { step, stepId, code, message, atMs }: StepError): Failure {
  const [first] = (step?.errors ?? []).filter((one) => one.code !== code && one.code !== "ROWS_FAILED");
  const { rows, toolSlug = "" } = step ?? {};
  const rowsIn = rows?.in ?? 0;
  const rowsFailed = (code === "ROWS_FAILED" ? rows?.failed : rows?.unknown) ?? 0;
  const what = rowsIn === 0 ? "rows" : `${rowsFailed} of ${rowsIn} ${rowsIn === 1 ? "row" : "rows"}`;
  const base = { stepId, toolSlug, atMs, rowsFailed, rowsIn };
  if (code === "ROWS_UNKNOWN") {
    const title = `svc cannot know if ${appName(toolSlug)} received the writes of ${what}`;
    return failureOf("job", { ...base, code: "outcome_unknown", title, remedies: ["check_app", "retry_job"] });
  }
  if (first === undefined || !callOutcome.test(first.code)) {
    const reason = first === undefined ? message : `${what} of step ${stepId} failed: ${first.sample}`;
    const own = first?.code ?? code;
    return failureOf("job", { ...base, code: own, title: reason, remedies: ["edit_program", "retry_job"] }, reason);
  }
  const error = readAppError(first.sample);
  const status = error?.status ?? 0;
  const [entityId = ""] = job.entities?.length === 1 ? job.entities : [];
  const facts = { outcome: first.code, toolSlug, entityId, error, status, message: first.sample, stepId, what };
  return failureOf("job", {
    ...{ ...base, code: first.code, entityId, ...appParts(error, status) },
    ...{ title: callSentence(facts), remedies: callRemedies(first.code, facts, true) },
  });
}

const limitWords: Readonly<Record<string, string>> = {
  toolCalls: "calls",
  writes: "writes",
  rows: "rows",
  asks: "questions",
};

/** Returns the sentence and the remedies for an error of svc's own, such as a limit or an expression. */
function ownSentence({
  code,
  stepId,
  message,
}: Pick<StepError, "code" | "stepId" | "message">): [string, FailureRemedy[]] {
  const at = stepId === "" ? "The job" : `Step ${stepId}`;
  switch (code) {
    case "LIMIT_REACHED": {
      const [, count = "", name = ""] = /limit of (\d+) (\w+)/.exec(message) ?? [];
      const limit = count === "" ? "" : ` of ${Number(count).toLocaleString("en")} ${limitWords[name] ?? name}`;
      return [`Reached its limit${limit}`, ["raise_limit"]];
    }
    case "EXPRESSION_FAILED":
    case "EXPRESSION_TOO_EXPENSIVE":
      return [`The expression of step ${stepId} failed: ${message}`, ["edit_program"]];
    case "FAIL_STEP":
      return [`Step ${stepId} ended the job: "${message}"`, ["edit_program", "retry_job"]];
    default:
      return [`${at} failed${message === "" ? "" : `: ${message}`}`, ["edit_program", "retry_job"]];
  }
}
