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

/** Reasons of `Replay.reason`; `endpoint` is the address that a replay waits for, or "the endpoint". */
const reasons: Record<string, (endpoint: string) => string> = {
  backoff: (endpoint) => `waits: ${endpoint} fails`,
  pending: (endpoint) => `waits: ${endpoint} has yet to take what was queued`,
  inactive: (endpoint) => `waits: the subscription of ${endpoint} is inactive`,
  quota: () => "waits: the project has as many deliveries pending as it may",
  requested: () => "a person cancelled it",
  deleted: () => "its subscription was deleted",
  expired: () => "it was paused for 30 days",
};

/** Returns why a replay queues nothing or was cancelled, naming the endpoint it waits for; empty if nothing hinders it. */
export function replayReasonWords(reason: string, endpoint: string): string {
  return reasons[reason]?.(endpoint || "the endpoint") ?? reason;
}
