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

/** How the state of a standing program is shown. */
export function standingWord(state: StandingState): Word {
  return (states as Record<number, Word>)[state] ?? unknownWord(String(state));
}

/** Every state that a standing program can have. */
export const standingStates: readonly StandingState[] = Object.keys(states)
  .map((key) => Number(key) as StandingState)
  .filter((state) => state !== StandingState.UNSPECIFIED);

const pauses: Record<string, string> = {
  requested: "Somebody paused it.",
  failures: "It paused itself: as many runs in a row failed as its definition allows.",
  drift: "It paused itself: tools that it uses have changed. Resume with the definitions of today, or change it.",
  key_revoked: "The key whose runs it makes was revoked.",
  approval: "The project's policy was raised, or its approval was declined.",
  source_gone: "Its poll would have to remember more than 100,000 ids.",
};

/** Why a standing program is paused, as a sentence. Empty for no reason. */
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

/** How a run is shown: one whose job has ended by how that ended. */
export function runWord({ state, jobStatus }: Pick<StandingRun, "state" | "jobStatus">): Word {
  const status = state === StandingRunState.ENDED ? jobStatusOf(jobStatus) : undefined;
  return status === undefined
    ? ((runs as Record<number, Word>)[state] ?? unknownWord(String(state)))
    : jobStatusWord(status);
}
