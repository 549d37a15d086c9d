import { readAppError } from "./app-error.ts";
import { type AppNames, appName, appParts, callRemedies, callSentence } from "./call-failure.ts";
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
    /** Tool of the call that failed. Absent if it is the tool of the step. */
    readonly toolSlug?: string | undefined;
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
  readonly appNames?: AppNames | undefined;
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

/**
 * Returns the id of the step whose receipt explains a job's failure. Empty if the receipts of all steps are necessary. Undefined if the
 * failure is explained without receipts, or if the job did not fail.
 */
export function stepToExplain({ status, lastError, park }: Omit<ExplainedJob, "atMs">): string | undefined {
  if (status === "aborted") return "";
  const stepId = status === "failed" ? readError(lastError).stepId : park?.reason === "in_doubt" ? park.stepId : "";
  return stepId === "" ? undefined : stepId;
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
      const title = `svc cannot know if ${appName(toolSlug, job.appNames)} received the write of ${placeOf(step, park.stepId)}`;
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
  const error = { step, stepId, code, message, atMs };
  return isOfRows(code) ? rowsFailure(job, error) : wholeStepFailure(job, error);
}

/**
 * Returns why a step failed, or some of its rows, with one of the errors in its receipt. `about`: time of the failure in epoch milliseconds,
 * the entities whose accounts the program uses, and the names of apps.
 */
export function stepErrorFailure(
  step: FailedStep,
  { code, count, sample, toolSlug = step.toolSlug }: Omit<FailedStep["errors"][number], "firstOrdinal">,
  about: Pick<ExplainedJob, "atMs" | "entities" | "appNames">,
): Failure {
  const { stepId, rows } = step;
  const error = { step, stepId, code, message: sample, atMs: about.atMs };
  if (isOfRows(code)) return rowsFailure(about, error);
  const rowsIn = rows?.in ?? 0;
  if (rowsIn === 0 || !callOutcome.test(code)) return wholeStepFailure(about, error);
  return rowCallFailure(about, { stepId, toolSlug, atMs: about.atMs, rowsFailed: count, rowsIn }, { code, sample });
}

/** True if the code of an error says that rows of a step failed, but not why. */
function isOfRows(code: string): boolean {
  return code === "ROWS_FAILED" || code === "ROWS_UNKNOWN";
}

type JobEntities = Pick<ExplainedJob, "entities" | "appNames">;

/** Returns the failure of a step by an error that is not about its rows: of its one call, or of svc's own. */
function wholeStepFailure(job: JobEntities, error: StepError): Failure {
  const { step, stepId, code, message, atMs } = error;
  if (callOutcome.test(code)) return stepCallFailure(job, error);
  const [title, remedies] = ownSentence(error);
  const toolSlug = step?.toolSlug ?? "";
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
function stepCallFailure(job: JobEntities, { step, stepId, code, message, atMs }: StepError): Failure {
  const error = readAppError(message);
  const { toolSlug = "", calls } = step ?? {};
  const [entityId = ""] = job.entities?.length === 1 ? job.entities : [];
  const status = error?.status ?? 0;
  const { appNames } = job;
  const facts = { outcome: code, toolSlug, entityId, error, status, message, stepId, what: "the call", appNames };
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
function rowsFailure(job: JobEntities, { step, stepId, code, message, atMs }: StepError): Failure {
  const [first] = (step?.errors ?? []).filter((one) => one.code !== code && !isOfRows(one.code));
  const { rows } = step ?? {};
  const toolSlug = first?.toolSlug ?? step?.toolSlug ?? "";
  const rowsIn = rows?.in ?? 0;
  const rowsFailed = (code === "ROWS_FAILED" ? rows?.failed : rows?.unknown) ?? 0;
  const base = { stepId, toolSlug, atMs, rowsFailed, rowsIn };
  const what = rowWords(base);
  if (code === "ROWS_UNKNOWN") {
    const title = `svc cannot know if ${appName(toolSlug, job.appNames)} received the writes of ${what}`;
    return failureOf("job", { ...base, code: "outcome_unknown", title, remedies: ["check_app", "retry_job"] });
  }
  if (first === undefined || !callOutcome.test(first.code)) {
    const reason = first === undefined ? message : `${what} of step ${stepId} failed: ${first.sample}`;
    const own = first?.code ?? code;
    return failureOf("job", { ...base, code: own, title: reason, remedies: ["edit_program", "retry_job"] }, reason);
  }
  return rowCallFailure(job, base, first);
}

type RowsOfStep = Pick<Failure, "stepId" | "toolSlug" | "atMs" | "rowsFailed" | "rowsIn">;

/** Returns the failure of rows of a step because their calls failed with the same error. */
function rowCallFailure(
  job: JobEntities,
  rows: RowsOfStep,
  { code, sample }: { code: string; sample: string },
): Failure {
  const { stepId, toolSlug } = rows;
  const error = readAppError(sample);
  const status = error?.status ?? 0;
  const [entityId = ""] = job.entities?.length === 1 ? job.entities : [];
  const about = { outcome: code, toolSlug, entityId, error, status, message: sample, stepId };
  const facts = { ...about, what: rowWords(rows), appNames: job.appNames };
  return failureOf("job", {
    ...{ ...rows, code, entityId, ...appParts(error, status) },
    ...{ title: callSentence(facts), remedies: callRemedies(code, facts, true) },
  });
}

function rowWords({ rowsFailed, rowsIn }: Pick<RowsOfStep, "rowsFailed" | "rowsIn">): string {
  return rowsIn === 0 ? "rows" : `${rowsFailed} of ${rowsIn} ${rowsIn === 1 ? "row" : "rows"}`;
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
