import { JobStatus } from "@svc/gen/jobs";
import { unknownWord, type Word } from "./word.ts";

const statuses: Record<JobStatus, Word> = {
  [JobStatus.UNSPECIFIED]: unknownWord(""),
  [JobStatus.SIMULATING]: {
    word: "simulating",
    tone: "info",
    icon: "play",
    says: "Its simulation runs: it reads and sends no write.",
  },
  [JobStatus.PENDING_PLAN_APPROVAL]: {
    word: "pending_plan_approval",
    tone: "warn",
    icon: "ask",
    says: "Its plan waits for approval; nothing of it has run.",
  },
  [JobStatus.QUEUED]: { word: "queued", tone: "info", icon: "clock", says: "Accepted, and not yet begun." },
  [JobStatus.RUNNING]: { word: "running", tone: "info", icon: "play", says: "It is being worked on." },
  [JobStatus.PARKED]: {
    word: "parked",
    tone: "warn",
    icon: "pause",
    says: "It waits for a person or for a time, or is paused.",
  },
  [JobStatus.COMPENSATING]: {
    word: "compensating",
    tone: "warn",
    icon: "replay",
    says: "What was done is being undone.",
  },
  [JobStatus.SUCCEEDED]: { word: "succeeded", tone: "ok", icon: "check", says: "Every step ended well." },
  [JobStatus.FAILED]: {
    word: "failed",
    tone: "bad",
    icon: "cross",
    says: "A step, or the simulation before it, failed.",
  },
  [JobStatus.ABORTED]: {
    word: "aborted",
    tone: "bad",
    icon: "ban",
    says: "A person, or a declared default, chose to abort it.",
  },
  [JobStatus.REJECTED]: { word: "rejected", tone: "bad", icon: "lock", says: "Its plan was not approved." },
  [JobStatus.EXPIRED]: { word: "expired", tone: "bad", icon: "alert", says: "Its deadline passed." },
  [JobStatus.CANCELLED]: { word: "cancelled", tone: "plain", icon: "dot", says: "It was cancelled." },
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

/** The states of a step (as in ListSteps). */
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
  waiting: { word: "waiting", tone: "plain", icon: "dot", says: "It has not begun." },
  not_reached: {
    word: "not_reached",
    tone: "plain",
    icon: "chevronRight",
    says: "The job ended, or went another way, before it.",
  },
  running: { word: "running", tone: "info", icon: "play", says: "It is at work." },
  completed: { word: "completed", tone: "ok", icon: "check", says: "It ended well, and all its rows did." },
  partial: {
    word: "partial",
    tone: "warn",
    icon: "alert",
    says: "It ended with failed rows, as many as the program tolerates.",
  },
  failed: { word: "failed", tone: "bad", icon: "cross", says: "It failed." },
  skipped: { word: "skipped", tone: "plain", icon: "arrowRight", says: "It was passed over." },
  simulated: { word: "simulated", tone: "info", icon: "search", says: "Its writes were checked and not sent." },
  undone: { word: "undone", tone: "warn", icon: "replay", says: "All that it did was undone." },
};

/** Returns the word, colour and icon for the state of a step. */
export function stepWord(state: string): Word {
  return (steps as Record<string, Word>)[state] ?? unknownWord(state);
}

const undos: Record<"armed" | "done" | "failed", Word> = {
  armed: { word: "armed", tone: "plain", icon: "clock", says: "It would be undone; nothing was yet." },
  done: { word: "done", tone: "ok", icon: "check", says: "It was undone." },
  failed: {
    word: "failed",
    tone: "bad",
    icon: "cross",
    says: "It could not be undone, or a person chose to leave it.",
  },
};

/** Returns the word, colour and icon for the state of an undo entry (the recorded way to undo one call of a job). */
export function undoWord(state: string): Word {
  return (undos as Record<string, Word>)[state] ?? unknownWord(state);
}

/** Returns the word, colour and icon for the outcome of a receipt (the report of a finished job). */
export function outcomeWord(outcome: string): Word {
  const words: Record<string, Word> = {
    complete: { word: "complete", tone: "ok", icon: "check", says: "Everything was done." },
    partial: { word: "partial", tone: "warn", icon: "alert", says: "Rows or points were left." },
    none: { word: "none", tone: "plain", icon: "dot", says: "Nothing was executed." },
  };
  return words[outcome] ?? unknownWord(outcome);
}
