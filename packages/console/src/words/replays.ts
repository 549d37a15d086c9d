import { ReplayState } from "@svc/gen/triggers";
import { unknownWord, type Word } from "./word.ts";

type Known = (typeof ReplayState)[keyof typeof ReplayState];

const words: Record<Known, Word> = {
  [ReplayState.UNSPECIFIED]: unknownWord(""),
  [ReplayState.RUNNING]: { word: "running", tone: "info", icon: "replay", says: "It queues deliveries." },
  [ReplayState.PAUSED]: { word: "paused", tone: "warn", icon: "pause", says: "It queues nothing until it goes on." },
  [ReplayState.DONE]: { word: "done", tone: "ok", icon: "check", says: "It came to the end of its range." },
  [ReplayState.CANCELLED]: {
    word: "cancelled",
    tone: "plain",
    icon: "ban",
    says: "It was ended before. What was queued is still delivered.",
  },
};

/** How the state of a replay is shown. */
export function replayWord(state: ReplayState): Word {
  return (words as Record<number, Word>)[state] ?? unknownWord(String(state));
}

/** Why a replay queues nothing or was cancelled, as `Replay.reason` has it. */
const reasons: Record<string, string> = {
  backoff: "waits: the endpoint fails",
  pending: "waits: the endpoint has yet to take what was queued",
  inactive: "waits: the subscription is inactive",
  quota: "waits: the project has as many deliveries pending as it may",
  requested: "somebody cancelled it",
  deleted: "its subscription was deleted",
  expired: "it was paused for 30 days",
};

/** Why a replay queues nothing or was cancelled, in words; empty where nothing hinders it. */
export function replayReasonWords(reason: string): string {
  return reasons[reason] ?? reason;
}
