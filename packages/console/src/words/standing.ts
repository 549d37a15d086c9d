import { type StandingProgram, type StandingRun, StandingRunState, StandingState } from "@svc/gen/standing";
import { jobStatusOf, jobStatusWord } from "./jobs.ts";
import { unknownWord, type Word } from "./word.ts";

const states: Record<StandingState, Word> = {
  [StandingState.UNSPECIFIED]: unknownWord(""),
  [StandingState.PENDING_APPROVAL]: {
    word: "pending_approval",
    label: "Needs approval",
    tone: "warn",
    icon: "ask",
    says: "A person has to approve the schedule before it runs.",
  },
  [StandingState.ACTIVE]: {
    word: "active",
    label: "Active",
    tone: "ok",
    icon: "check",
    says: "The schedule starts jobs when they are due.",
  },
  [StandingState.PAUSED]: {
    word: "paused",
    label: "Paused",
    tone: "warn",
    icon: "pause",
    says: "The schedule starts no job until you resume it.",
  },
  [StandingState.ENDED]: {
    word: "ended",
    label: "Ended",
    tone: "plain",
    icon: "dot",
    says: "The schedule has no further run.",
  },
};

/** Returns the word, colour and icon for the state of a schedule. */
export function standingWord(state: StandingState): Word {
  return (states as Record<number, Word>)[state] ?? unknownWord(String(state));
}

/** Every state of a schedule. */
export const standingStates: readonly StandingState[] = Object.keys(states)
  .map((key) => Number(key) as StandingState)
  .filter((state) => state !== StandingState.UNSPECIFIED);

const pauses: Record<string, string> = {
  requested: "A person paused it.",
  failures: "svc paused it, because too many runs in a row failed.",
  drift: "svc paused it, because tools that it uses have changed. Resume it with the tools of today, or edit it.",
  fail_step: "A step failed, and the program says to pause the schedule then.",
  key_revoked: "The key that created it was revoked.",
  approval: "The project's policy became stricter, or a person did not approve it.",
  source_gone: "Its list has more than 100,000 new items to remember.",
};

/**
 * Returns a sentence with the number of events that a schedule ignored because they are about another customer or user (entity) than the
 * schedule.
 */
export function passedOverWords(count: number): string {
  const events = count === 1 ? "1 event" : `${count.toLocaleString("en")} events`;
  return `${events} of the last 1,000 of its trigger ${count === 1 ? "is" : "are"} not about its entity, and started nothing`;
}

/** Returns a sentence that says why a schedule is paused. Empty if there is no reason. */
export function pauseWords(reason: string): string {
  return reason === "" ? "" : (pauses[reason] ?? reason);
}

const runs: Record<StandingRunState, Word> = {
  [StandingRunState.UNSPECIFIED]: unknownWord(""),
  [StandingRunState.QUEUED]: {
    word: "queued",
    label: "Queued",
    tone: "info",
    icon: "clock",
    says: "The run has not started.",
  },
  [StandingRunState.STARTED]: {
    word: "started",
    label: "Running",
    tone: "info",
    icon: "play",
    says: "The job of this run is not finished.",
  },
  [StandingRunState.ENDED]: {
    word: "ended",
    label: "Ended",
    tone: "plain",
    icon: "dot",
    says: "The job of this run has ended.",
  },
  [StandingRunState.SKIPPED]: {
    word: "skipped",
    label: "Skipped",
    tone: "plain",
    icon: "arrowRight",
    says: "The rules of the schedule skipped this run.",
  },
  [StandingRunState.REFUSED]: {
    word: "refused",
    label: "Not started",
    tone: "bad",
    icon: "ban",
    says: "svc could not start a job.",
  },
  [StandingRunState.COLLECTING]: {
    word: "collecting",
    label: "Collecting",
    tone: "info",
    icon: "inbox",
    says: "The run collects events until its time window ends.",
  },
};

/** Returns the word, colour and icon for a run. If the run's job has ended, the word says how the job ended. */
export function runWord({ state, jobStatus }: Pick<StandingRun, "state" | "jobStatus">): Word {
  const status = state === StandingRunState.ENDED ? jobStatusOf(jobStatus) : undefined;
  return status === undefined
    ? ((runs as Record<number, Word>)[state] ?? unknownWord(String(state)))
    : jobStatusWord(status);
}

const starts: Readonly<Record<string, string>> = {
  schedule: "At set times",
  trigger: "When an event arrives",
  poll: "When a list has new items",
};

/** Returns in a sentence when a schedule starts its jobs. */
export function startWords({ sourceKind, timeZone }: Pick<StandingProgram, "sourceKind" | "timeZone">): string {
  const words = starts[sourceKind] ?? sourceKind;
  return sourceKind === "schedule" && timeZone !== "" ? `${words}, ${timeZone}` : words;
}

/** The ways in which a schedule can start, as options from which the user chooses. */
export const startedByOptions: readonly { value: string; words: string; says: string }[] = [
  { value: "cron", words: "On a schedule", says: "At times of day, by a cron expression in a time zone." },
  { value: "every", words: "Every N minutes", says: "Again and again after some minutes, hours or days." },
  { value: "at", words: "At set times", says: "Once at each of these times." },
  { value: "trigger", words: "When an event arrives", says: "Each event of a trigger, such as a webhook of an app." },
  { value: "poll", words: "When a list has new items", says: "A tool reads a list at intervals." },
];

/**
 * The choices for what the first poll of a schedule does with the rows that it finds. `value`: the JSON text for the schedule's definition.
 */
export const firstPolls: readonly { value: string; words: string }[] = [
  { value: "", words: "no items" },
  { value: '"all"', words: "all items" },
  { value: '{"last":10}', words: "the last 10 items" },
];

/** The choices for which rows one run of a polling schedule gets: all rows of a poll, or one row. */
export const pollRuns: readonly { value: string; words: string }[] = [
  { value: "", words: "all new items together" },
  { value: "row", words: "each new item" },
];

const overlaps: readonly { value: string; words: string }[] = [
  { value: "skip", words: "skip this one" },
  { value: "queueOne", words: "wait, and keep only the newest" },
  { value: "queueAll", words: "wait in line" },
  { value: "cancelRunning", words: "cancel it first" },
  { value: "allow", words: "run both" },
];

/**
 * Returns the choices for a run that becomes due while the previous run is in progress. `standard`: the choice that applies if the
 * definition names none. `by`: what starts the schedule.
 */
export function overlapOptions(by: string): { standard: string; options: readonly { value: string; words: string }[] } {
  return { standard: by === "trigger" || by === "poll" ? "queueAll" : "skip", options: overlaps };
}

/** Returns a sentence that says how many recent events would have started a schedule that the user edits. */
export function matchedWords({
  seen,
  matched,
  passedOver = 0,
}: {
  seen: number;
  matched: number;
  passedOver?: number;
}): string {
  if (seen === 0 && passedOver === 0) return "No event yet could have started it.";
  const others = passedOver === 0 ? "" : ` ${passedOver.toLocaleString("en")} others are not about its entity.`;
  return `${matched.toLocaleString("en")} of the last ${seen.toLocaleString("en")} events would have started it.${others}`;
}
