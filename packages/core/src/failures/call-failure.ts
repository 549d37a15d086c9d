import { type AppError, readAppError } from "./app-error.ts";
import { type Failure, type FailureRemedy, failureOf } from "./failure.ts";

/** A tool call as the ledger (the stored record of every tool call) has it. `message`: the opened message. */
type RecordedCall = {
  readonly id: string;
  readonly toolSlug: string;
  readonly outcome: string;
  readonly providerStatus: number;
  readonly message: string;
  readonly entityId: string;
  readonly stepId: string;
  /** Id of the job that made the call. Null or empty if a caller made it. */
  readonly jobId: string | null | undefined;
  /** Time of the call, epoch milliseconds. */
  readonly createdAt: number;
};

/** Returns the name of a tool's app by the slug of the tool. Undefined if the app is not known. */
export type AppNames = (toolSlug: string) => string | undefined;

/** Returns why a tool call failed. Undefined if it succeeded, is in progress, or waits for a confirmation. */
export function callFailure(call: RecordedCall, appNames?: AppNames): Failure | undefined {
  const { id, toolSlug, outcome, providerStatus, entityId, stepId, jobId, createdAt } = call;
  if (outcome === "ok" || outcome === "running" || outcome === "held") return undefined;
  // A call of a job may have only the name of its outcome as its message.
  const message = call.message === outcome ? "" : call.message;
  const error = readAppError(message);
  const isOfJob = jobId !== null && jobId !== undefined && jobId !== "";
  const about = { outcome, toolSlug, entityId, error, status: providerStatus, message, what: "the call", appNames };
  return failureOf(
    "call",
    {
      ...{ code: outcome, toolSlug, entityId, stepId, callId: id, atMs: createdAt },
      ...appParts(error, providerStatus),
      ...{ title: callSentence(about), remedies: callRemedies(outcome, about, isOfJob) },
    },
    outcome === "invalid_arguments" ? message : "",
  );
}

/** The facts of a failed call. `what`: the refused thing in words, such as `the call` or `2 of 3 rows`. `times`: number of attempts. */
export type CallFacts = {
  readonly outcome: string;
  readonly toolSlug: string;
  readonly entityId: string;
  readonly error: AppError | undefined;
  readonly status: number;
  readonly message: string;
  readonly what: string;
  readonly stepId?: string;
  readonly times?: number;
  readonly appNames?: AppNames | undefined;
};

/** Returns the fields of a failure that come from the app's answer. */
export function appParts(error: AppError | undefined, status: number) {
  const httpStatus = error?.status || (status >= 200 && status <= 299 ? 0 : status);
  return { httpStatus, appMessage: error?.words ?? "", appCode: error?.code ?? "" };
}

/** Returns the sentence for a failed call of a tool, by its outcome. */
export function callSentence(facts: CallFacts): string {
  const { outcome, toolSlug, entityId, message, times = 1 } = facts;
  const app = appName(toolSlug, facts.appNames);
  const tried = times > 1 ? `, tried ${times} times` : "";
  const account = entityId === "" ? `The ${app} account` : `The ${app} account of ${entityId}`;
  const after = message === "" ? "" : `: ${message}`;
  switch (outcome) {
    case "provider_error":
      return appSentence(app, facts);
    case "timeout":
      return `${app} did not answer within 30 s${tried}`;
    case "unreachable":
      return `svc could not reach ${app}${after}`;
    case "rate_limited":
      return `${app} asked to slow down${tried}`;
    case "account_unusable":
      return `${account} has expired or was refused`;
    case "missing_scope":
      return `${account} lacks a permission that the tool needs`;
    case "no_account":
      return entityId === "" ? `There is no ${app} account for the call` : `${entityId} has no ${app} account`;
    case "invalid_arguments":
      return argumentSentence(facts);
    case "outcome_unknown":
      return `svc cannot know if ${app} received the write`;
    default:
      return `${toolSlug || "The tool"} cannot be called${after}`;
  }
}

function appSentence(app: string, { error, status, what }: CallFacts): string {
  const { words = "", code = "", unreadable = "" } = error ?? {};
  const answered = error?.status || status;
  const said = words || code;
  if (unreadable !== "") return `svc could not read the answer of ${app}, which came ${unreadable}`;
  if (answered >= 500) return `${app} had a problem (${answered})${said === "" ? "" : `: "${said}"`}`;
  if (said !== "") return `${app} refused ${what}: "${said}"`;
  return `${app} refused ${what} and gave no reason${answered >= 300 ? ` (${answered})` : ""}`;
}

const fault = /^(?:\d+ problems? in the arguments: )?(\/\S+|the arguments) ([\s\S]*)$/;

function argumentSentence({ toolSlug, message, stepId = "" }: CallFacts): string {
  const [, place = "", rest = message] = fault.exec(message) ?? [];
  const field = place.startsWith("/") ? place.slice(1).replaceAll("/", ".") : "The arguments";
  const owner = stepId === "" ? toolSlug : `step ${stepId}`;
  return rest === "" ? `The arguments of ${owner} do not fit the tool` : `${field} of ${owner} ${rest}`;
}

/** Returns the actions that may solve the failure of a call, the best one first. `isOfJob`: true if a job made the call. */
export function callRemedies(
  outcome: string,
  { error, status }: Pick<CallFacts, "error" | "status">,
  isOfJob: boolean,
): FailureRemedy[] {
  const retry = isOfJob ? "retry_job" : "retry_call";
  const edit = isOfJob ? "edit_program" : "edit_arguments";
  switch (outcome) {
    case "provider_error":
      return (error?.status || status) >= 500 ? [retry] : [edit, retry];
    case "timeout":
    case "unreachable":
    case "rate_limited":
      return [retry];
    case "account_unusable":
    case "missing_scope":
      return ["reconnect_account", retry];
    case "no_account":
      return ["connect_account", retry];
    case "outcome_unknown":
      return isOfJob ? ["answer_ask", "check_app"] : ["check_app"];
    case "not_bound":
      return [];
    default:
      return [edit];
  }
}

/**
 * Returns the name of the app of a tool. An app that `appNames` does not know has the words of its slug as its name:
 * `messaging_bot.send_message` is `Messaging bot`.
 */
export function appName(toolSlug: string, appNames?: AppNames): string {
  const [slug = ""] = toolSlug.split(".");
  if (slug === "" || slug === "http") return "The app";
  const known = appNames?.(toolSlug);
  if (known !== undefined) return known;
  return `${slug.slice(0, 1).toUpperCase()}${slug.slice(1).replaceAll(/[_-]+/g, " ")}`;
}
