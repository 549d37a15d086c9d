import { dateOf, readTime } from "@svc/core/time";
import { type StandingRun, StandingRunState, StandingState } from "@svc/gen/standing";
import { jobStatusOf, jobStatusWord } from "./jobs.ts";
import { unknownWord, type Word } from "./word.ts";

const states: Record<StandingState, Word> = {
  [StandingState.UNSPECIFIED]: unknownWord(""),
  [StandingState.PENDING_APPROVAL]: {
    word: "pending_approval",
    tone: "warn",
    icon: "ask",
    says: "People are asked whether it may run.",
  },
  [StandingState.ACTIVE]: { word: "active", tone: "ok", icon: "check", says: "It runs when it is due." },
  [StandingState.PAUSED]: {
    word: "paused",
    tone: "warn",
    icon: "pause",
    says: "It starts nothing until it is resumed.",
  },
  [StandingState.ENDED]: { word: "ended", tone: "plain", icon: "dot", says: "It has no further time." },
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
  requested: "Somebody paused it.",
  failures: "It paused itself: as many runs in a row failed as its definition allows.",
  drift: "It paused itself: tools that it uses have changed. Resume with the definitions of today, or change it.",
  fail_step: "A step of its program failed, and asked for the pause.",
  key_revoked: "The key whose runs it makes was revoked.",
  approval: "The project's policy was raised, or its approval was declined.",
  source_gone: "Its poll would have to remember more than 100,000 ids.",
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
  [StandingRunState.QUEUED]: { word: "queued", tone: "info", icon: "clock", says: "It waits to be started." },
  [StandingRunState.STARTED]: { word: "started", tone: "info", icon: "play", says: "Its job has not ended." },
  [StandingRunState.ENDED]: { word: "ended", tone: "plain", icon: "dot", says: "Its job has ended." },
  [StandingRunState.SKIPPED]: {
    word: "skipped",
    tone: "plain",
    icon: "arrowRight",
    says: "Nothing was started, by the program's rules.",
  },
  [StandingRunState.REFUSED]: { word: "refused", tone: "bad", icon: "ban", says: "Nothing could be started." },
  [StandingRunState.COLLECTING]: {
    word: "collecting",
    tone: "info",
    icon: "inbox",
    says: "It takes events until its window closes.",
  },
};

/** Returns the word, colour and icon for a run. If the run's job has ended, the word says how the job ended. */
export function runWord({ state, jobStatus }: Pick<StandingRun, "state" | "jobStatus">): Word {
  const status = state === StandingRunState.ENDED ? jobStatusOf(jobStatus) : undefined;
  return status === undefined
    ? ((runs as Record<number, Word>)[state] ?? unknownWord(String(state)))
    : jobStatusWord(status);
}

/** The ways in which a schedule can start, for the user's choice. */
export const startedByOptions: readonly { value: string; words: string; says: string }[] = [
  { value: "cron", words: "Times of a calendar", says: "Cron expressions, by the clocks of a zone." },
  { value: "every", words: "Time that passes", says: "Every so many minutes, hours or days." },
  { value: "at", words: "Instants", says: "Once at each of them." },
  { value: "trigger", words: "Events", says: "Each event of a trigger: what an app posts." },
  { value: "poll", words: "New rows of a list", says: "A tool reads a list again and again." },
];

/** The choices for the rows that the first poll of a schedule finds. `value`: the JSON text for the schedule's definition. */
export const firstPolls: readonly { value: string; words: string }[] = [
  { value: "", words: "nothing (default)" },
  { value: '"all"', words: "all that is there" },
  { value: '{\n  "last": 10\n}', words: "the last 10 rows" },
];

/** The choices for which rows one run of a polling schedule gets: all rows of a poll, or one row. */
export const pollRuns: readonly { value: string; words: string }[] = [
  { value: "", words: "all rows that a poll finds (default)" },
  { value: "row", words: "each row" },
];

const overlaps: Readonly<Record<string, string>> = {
  skip: "it is skipped",
  queueOne: "it waits, and replaces a run that waited before",
  queueAll: "it waits until the others have ended",
  cancelRunning: "it waits, and the running jobs are cancelled",
  allow: "it starts at once",
};

/** Returns what happens by default to a run that becomes due while other runs are in progress. `by`: what starts the schedule. */
function overlapDefault(by: string): string {
  return overlaps[by === "trigger" || by === "poll" ? "queueAll" : "skip"] ?? "";
}

/** Returns the choices for a run that becomes due while other runs are in progress. `by`: what starts the schedule. */
export function overlapOptions(by: string): { value: string; words: string }[] {
  const named = Object.entries(overlaps).map(([value, words]) => ({ value, words: `${value}: ${words}` }));
  return [{ value: "", words: `default: ${overlapDefault(by)}` }, ...named];
}

const days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** Returns a local time with its day of the week. For example, `2026-03-16T09:00:00` becomes `Mon 2026-03-16 09:00:00`. */
export function localWords(local: string): string {
  const ms = readTime(`${local}Z`);
  const day = ms === undefined ? "" : `${days[dateOf(ms).getUTCDay()]} `;
  return `${day}${local.slice(0, 19).replace("T", " ")}`;
}

/** Returns a sentence with the number of recent events that would have started a schedule. */
export function matchedWords({
  seen,
  matched,
  passedOver = 0,
}: {
  seen: number;
  matched: number;
  passedOver?: number;
}): string {
  if (seen === 0 && passedOver === 0) return "There is no event yet that could start it.";
  const others = passedOver === 0 ? "" : ` ${passedOver.toLocaleString("en")} others are not about its entity.`;
  return `${matched.toLocaleString("en")} of the last ${seen.toLocaleString("en")} events would have started it.${others}`;
}
