import { createHash } from "node:crypto";
import { withoutValues } from "./app-error.ts";

/** Actions that may solve a failure. The names are those of the enum Remedy of the API, in lower case. */
export const failureRemedies = [
  "reconnect_account",
  "connect_account",
  "retry_job",
  "edit_program",
  "answer_ask",
  "repair_endpoint",
  "resend_delivery",
  "resume",
  "wait",
  "check_app",
  "retry_call",
  "edit_arguments",
  "raise_limit",
  "ask_again",
  "try_endpoint_now",
  "edit_subscription",
] as const;

/** An action that may solve a failure. */
export type FailureRemedy = (typeof failureRemedies)[number];

/** Kind of the resource that failed. */
export type FailureKind = "call" | "delivery" | "job";

/** The cause of a failure, with one sentence for people and the actions that may solve it. */
export type Failure = {
  /** Equal for failures with the same kind, tool or endpoint, code, status and general message. 32 hexadecimal digits. */
  readonly fingerprint: string;
  /** Error code of svc, such as `provider_error`, `http_500` or `LIMIT_REACHED`. */
  readonly code: string;
  /** The app's or the endpoint's own words, at most 500 characters. Empty if it gave none. */
  readonly appMessage: string;
  /** The app's own error code. Empty if it gave none. */
  readonly appCode: string;
  /** HTTP status of the answer. 0 if there was no answer, or if it was 2xx. */
  readonly httpStatus: number;
  /** Step of the job that failed. Empty if no step did. */
  readonly stepId: string;
  readonly toolSlug: string;
  readonly entityId: string;
  readonly subscriptionId: string;
  /** Number of rows that failed, of `rowsIn` rows. Both are 0 for a failure that is not about rows. */
  readonly rowsFailed: number;
  readonly rowsIn: number;
  readonly callId: string;
  /** Time of the failure, epoch milliseconds. */
  readonly atMs: number;
  /** One sentence that says why it failed, without a period at its end. */
  readonly title: string;
  /** Actions that may solve the failure, the best one first. */
  readonly remedies: readonly FailureRemedy[];
};

/** The parts of a failure that its writer must give. The others are empty unless it gives them. */
type FailureParts = Pick<Failure, "code" | "title" | "remedies" | "atMs"> & Partial<Omit<Failure, "fingerprint">>;

const titleMax = 700;

/**
 * Returns a failure with its fingerprint, a hash that groups failures with the same cause. `detail`: the text that distinguishes failures
 * with the same code, if the app gave no words. Values in it, such as ids and numbers, do not change the fingerprint.
 */
export function failureOf(kind: FailureKind | "run", parts: FailureParts, detail = ""): Failure {
  const failure = { ...nothing, ...parts, title: titleOf(parts.title) };
  const { toolSlug, subscriptionId, code, appCode, httpStatus, appMessage } = failure;
  const general = withoutValues(appMessage || detail).toLowerCase();
  const text = [kind, toolSlug || subscriptionId, code, appCode, httpStatus, general].join("\n");
  return { ...failure, fingerprint: createHash("sha256").update(text).digest("hex").slice(0, 32) };
}

const nothing = {
  ...{ appMessage: "", appCode: "", httpStatus: 0, stepId: "", toolSlug: "", entityId: "", subscriptionId: "" },
  ...{ rowsFailed: 0, rowsIn: 0, callId: "" },
};

function titleOf(text: string): string {
  const title = text.replace(/[.\s]+$/u, "");
  return title.length > titleMax ? `${title.slice(0, titleMax - 4)} ...`.toWellFormed() : title;
}

/** Returns a duration in words, in its largest whole unit: `30 s`, `15 min`, `24 h`, `3 days`. */
export function durationWords(ms: number): string {
  const units = [
    ["day", 86_400_000],
    ["h", 3_600_000],
    ["min", 60_000],
  ] as const;
  for (const [unit, unitMs] of units) {
    const count = Math.round(ms / unitMs);
    // One day reads better as 24 hours.
    if (ms >= (unit === "day" ? 2 : 1) * unitMs) return `${count} ${unit === "day" ? "days" : unit}`;
  }
  return `${Math.max(1, Math.round(ms / 1_000))} s`;
}

/** A run of a schedule that svc refused to start. `atMs`: time of the refusal, epoch milliseconds. */
type RefusedRun = {
  readonly reason: string;
  readonly detail: string;
  readonly atMs: number;
};

/** Returns why svc started no job for a run of a schedule. */
export function refusedRunFailure({ reason, detail, atMs }: RefusedRun): Failure {
  const [sentence, remedies] = sentences[reason] ?? ["svc could not start the job", ["wait"]];
  const title = detail === "" ? sentence : `${sentence}: ${detail}`;
  return failureOf("run", { code: reason, title, remedies, atMs }, detail);
}

const sentences: Readonly<Record<string, readonly [string, readonly FailureRemedy[]]>> = {
  input_invalid: ["The input of the run does not fit the program", ["edit_program"]],
  filter_error: ["The condition of the schedule failed", ["edit_program"]],
  key_revoked: ["The key of the schedule cannot be used any more", ["resume"]],
  approval: ["The schedule has no approval", ["answer_ask"]],
  start_failed: ["svc tried several times and could not start the job", ["wait"]],
};
