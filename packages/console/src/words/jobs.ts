import { Remedy } from "@svc/gen/failures";
import { JobStatus, type JobStep } from "@svc/gen/jobs";
import { parkWords } from "./park.ts";
import { unknownWord, type Word } from "./word.ts";

const statuses: Record<JobStatus, Word> = {
  [JobStatus.UNSPECIFIED]: unknownWord(""),
  [JobStatus.SIMULATING]: {
    word: "simulating",
    label: "Dry run",
    tone: "info",
    icon: "play",
    says: "svc runs the program without writes.",
  },
  [JobStatus.PENDING_PLAN_APPROVAL]: {
    word: "pending_plan_approval",
    label: "Needs approval",
    tone: "warn",
    icon: "ask",
    says: "A person has to approve the program. No step has run.",
  },
  [JobStatus.QUEUED]: {
    word: "queued",
    label: "Queued",
    tone: "info",
    icon: "clock",
    says: "The job has not started yet.",
  },
  [JobStatus.RUNNING]: {
    word: "running",
    label: "Running",
    tone: "info",
    icon: "play",
    says: "The steps of the job are running.",
  },
  [JobStatus.PARKED]: {
    word: "parked",
    label: "Waiting",
    tone: "warn",
    icon: "pause",
    says: "The job waits for a person or for a time, or it is paused.",
  },
  [JobStatus.COMPENSATING]: {
    word: "compensating",
    label: "Undoing",
    tone: "warn",
    icon: "replay",
    says: "svc is undoing the changes that the job made.",
  },
  [JobStatus.SUCCEEDED]: {
    word: "succeeded",
    label: "Succeeded",
    tone: "ok",
    icon: "check",
    says: "All steps succeeded.",
  },
  [JobStatus.FAILED]: {
    word: "failed",
    label: "Failed",
    tone: "bad",
    icon: "cross",
    says: "A step failed, or the dry run before it.",
  },
  [JobStatus.ABORTED]: {
    word: "aborted",
    label: "Stopped by a person",
    tone: "bad",
    icon: "ban",
    says: "A person chose to stop the job, or nobody answered and the program says to stop then.",
  },
  [JobStatus.REJECTED]: {
    word: "rejected",
    label: "Not approved",
    tone: "bad",
    icon: "lock",
    says: "A person did not approve the program.",
  },
  [JobStatus.EXPIRED]: {
    word: "expired",
    label: "Timed out",
    tone: "bad",
    icon: "alert",
    says: "The deadline of the job passed.",
  },
  [JobStatus.CANCELLED]: {
    word: "cancelled",
    label: "Cancelled",
    tone: "plain",
    icon: "dot",
    says: "A person or a program cancelled the job.",
  },
};

/** Returns the word, colour and icon for the status of a job. */
export function jobStatusWord(status: JobStatus): Word {
  return (statuses as Record<number, Word>)[status] ?? unknownWord(String(status));
}

/** Returns the job status with this word; undefined if no status has it. */
export function jobStatusOf(word: string): JobStatus | undefined {
  return jobStatuses.find((status) => jobStatusWord(status).word === word);
}

/** Every status that a job can have, in the usual order from submission to end. */
export const jobStatuses: readonly JobStatus[] = Object.keys(statuses)
  .map((key) => Number(key) as JobStatus)
  .filter((status) => status !== JobStatus.UNSPECIFIED);

/** True if a job's status is final. A job with a final status continues only if a caller starts another attempt at it. */
export function hasEnded(status: JobStatus): boolean {
  return status >= JobStatus.SUCCEEDED;
}

/** The states of a step of a job, as the API method ListSteps returns them. */
export const stepStates = [
  "waiting",
  "not_reached",
  "running",
  "completed",
  "partial",
  "failed",
  "skipped",
  "simulated",
  "undone",
] as const;

/** One of the states that a step can have. */
export type ListedStepState = (typeof stepStates)[number];

const steps: Record<ListedStepState, Word> = {
  waiting: { word: "waiting", label: "Waiting", tone: "plain", icon: "dot", says: "The step has not started." },
  not_reached: {
    word: "not_reached",
    label: "Not reached",
    tone: "plain",
    icon: "chevronRight",
    says: "The job ended before this step, or took another branch.",
  },
  running: { word: "running", label: "Running", tone: "info", icon: "play", says: "The step is running." },
  completed: {
    word: "completed",
    label: "Done",
    tone: "ok",
    icon: "check",
    says: "The step succeeded for all its rows.",
  },
  partial: {
    word: "partial",
    label: "Partly done",
    tone: "warn",
    icon: "alert",
    says: "Some rows failed. The program allows that many.",
  },
  failed: { word: "failed", label: "Failed", tone: "bad", icon: "cross", says: "The step failed." },
  skipped: { word: "skipped", label: "Skipped", tone: "plain", icon: "arrowRight", says: "The step was skipped." },
  simulated: {
    word: "simulated",
    label: "Dry run",
    tone: "info",
    icon: "search",
    says: "svc checked the writes and did not send them.",
  },
  undone: {
    word: "undone",
    label: "Undone",
    tone: "warn",
    icon: "replay",
    says: "All changes of the step were undone.",
  },
};

/** Returns the word, colour and icon for the state of a step. */
export function stepWord(state: string): Word {
  return (steps as Record<string, Word>)[state] ?? unknownWord(state);
}

/** Returns the word, colour and icon for what a step does now. A running step that waits, for example for a person, is shown as waiting. */
export function stepNowWord({ state, waits }: Pick<JobStep, "state" | "waits">): Word {
  const wait = state === "running" ? waits.find(({ until }) => until === undefined) : undefined;
  if (wait === undefined) return stepWord(state);
  const { title } = parkWords(wait.reason);
  return { word: "waiting_now", label: "Waiting", tone: "warn", icon: "clock", says: `${title}.` };
}

const rows: Record<"in" | "ok" | "failed" | "skipped" | "unknown", Word> = {
  in: {
    word: "in",
    label: "Taken",
    tone: "plain",
    icon: "dot",
    says: "The step has taken the row. No call of it has ended.",
  },
  ok: { word: "ok", label: "Done", tone: "ok", icon: "check", says: "All calls of the row succeeded." },
  failed: { word: "failed", label: "Failed", tone: "bad", icon: "cross", says: "A call of the row failed." },
  skipped: { word: "skipped", label: "Skipped", tone: "plain", icon: "arrowRight", says: "The row was skipped." },
  unknown: {
    word: "unknown",
    label: "Unknown",
    tone: "bad",
    icon: "ask",
    says: "svc can't tell whether the app received a write of the row.",
  },
};

/** Returns the word, colour and icon for the state of a row of a step. */
export function rowWord(state: string): Word {
  return (rows as Record<string, Word>)[state] ?? unknownWord(state);
}

const undos: Record<"armed" | "done" | "failed", Word> = {
  armed: {
    word: "armed",
    label: "Can be undone",
    tone: "plain",
    icon: "clock",
    says: "svc undoes this change if the job stops.",
  },
  done: { word: "done", label: "Undone", tone: "ok", icon: "check", says: "The change was undone." },
  failed: {
    word: "failed",
    label: "Not undone",
    tone: "bad",
    icon: "cross",
    says: "svc could not undo the change, or a person chose to leave it.",
  },
};

/** Returns the word, colour and icon for the state of an undo entry (the recorded way to undo one call of a job). */
export function undoWord(state: string): Word {
  return (undos as Record<string, Word>)[state] ?? unknownWord(state);
}

/** Returns the word, colour and icon for the outcome of a receipt (the report of a finished job). */
export function outcomeWord(outcome: string): Word {
  const words: Record<string, Word> = {
    complete: { word: "complete", label: "Complete", tone: "ok", icon: "check", says: "All steps and rows were done." },
    partial: {
      word: "partial",
      label: "Partly done",
      tone: "warn",
      icon: "alert",
      says: "Some rows or decisions were left out.",
    },
    none: { word: "none", label: "Nothing done", tone: "plain", icon: "dot", says: "No step ran." },
  };
  return words[outcome] ?? unknownWord(outcome);
}

const jobRemedies: Partial<Record<Remedy, string>> = {
  [Remedy.RECONNECT_ACCOUNT]: "Reconnect the account",
  [Remedy.CONNECT_ACCOUNT]: "Connect an account",
  [Remedy.RETRY_JOB]: "Retry",
  [Remedy.ASK_AGAIN]: "Ask again",
  [Remedy.EDIT_PROGRAM]: "Edit and run",
  [Remedy.RAISE_LIMIT]: "Raise the limit in the program",
};

/** Returns the label of the button that solves the cause of a job's failure. Undefined if this remedy needs no button on the job's page. */
export function jobRemedyWords(remedy: Remedy): string | undefined {
  return jobRemedies[remedy];
}
