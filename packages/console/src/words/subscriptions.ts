import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { ReplayState, type Subscription } from "@svc/gen/triggers";
import { attemptErrorWords } from "./deliveries.ts";
import { durationWords } from "./time.ts";
import { unknownWord, type Word } from "./word.ts";

/** The health states of a subscription (the values of `SubscriptionHealth.state`). */
export const healthStates = ["well", "slow", "failing", "backing_off", "inactive"] as const;

/** One of the health states of a subscription. */
type HealthState = (typeof healthStates)[number];

const words: Record<HealthState, Word> = {
  well: { word: "well", tone: "ok", icon: "check", says: "Nothing failed since the last success." },
  slow: {
    word: "slow",
    tone: "warn",
    icon: "schedule",
    says: "It takes what is delivered, and typically needs 2 seconds or longer.",
  },
  failing: {
    word: "failing",
    tone: "bad",
    icon: "alert",
    says: "The latest attempt failed. Deliveries are tried again.",
  },
  backing_off: { word: "backing_off", tone: "warn", icon: "clock", says: "It fails, and nothing is sent for a while." },
  inactive: { word: "inactive", tone: "plain", icon: "pause", says: "Nothing is delivered to it." },
};

/** Returns the word, colour and icon for the health of a subscription. */
export function healthWord(state: string): Word {
  return (words as Record<string, Word>)[state] ?? unknownWord(state);
}

/** The sentences for the reasons why a subscription is inactive (`Subscription.inactiveReason`). */
const inactiveReasons: Record<string, string> = {
  deactivated: "It was paused. Nothing is delivered to it until it is re-enabled.",
  paused: "It is paused. Its events are kept, and it receives them when it is resumed.",
  failing: "It was ended after 5 days of nothing but failures. Mend the endpoint, then re-enable it.",
  revoked: "The key or grant that an agent made it with has ended, or was narrowed. It is removed within a minute.",
  overflow:
    "Its endpoint failed while more than 100,000 deliveries were pending. Mend the endpoint, re-enable it, and replay what it missed.",
  gone: "Its endpoint answered 410 Gone for an hour, which says that it is wanted no more. Re-enable it if it is.",
};

/** The facts that determine the health of a subscription. */
type Health = {
  state: string;
  failingSince?: Timestamp | undefined;
  backoffUntil?: Timestamp | undefined;
  lastSuccessAt?: Timestamp | undefined;
  lastError?: string;
  p50Ms?: number;
};

/** Returns in words why a subscription does not deliver, and what happens next. `now`: in epoch milliseconds. */
export function healthSentence(
  { state, failingSince, backoffUntil, lastSuccessAt, lastError = "", p50Ms = 0 }: Health,
  inactiveReason: string,
  now: number,
): string {
  if (state === "inactive") return inactiveReasons[inactiveReason] ?? "It is inactive.";
  if (state === "slow")
    return `Its endpoint takes what is delivered, and half of the answers take ${durationWords(p50Ms)} or longer.`;
  const why = attemptErrorWords(lastError);
  const since =
    failingSince === undefined
      ? "Its endpoint fails"
      : `Its endpoint has failed for ${durationWords(Math.max(0, now - timestampMs(failingSince)))}`;
  const fails = why === "" ? since : `${why} ${since}`;
  if (state === "backing_off") {
    const wait = backoffUntil === undefined ? 0 : timestampMs(backoffUntil) - now;
    const next = wait > 0 ? `One delivery is tried in ${durationWords(wait)}` : "One delivery is tried now";
    return `${fails}. ${next}; when that succeeds, the others follow.`;
  }
  if (state === "failing") return `${fails}. Deliveries are tried again, each by its schedule.`;
  return lastSuccessAt === undefined ? "Nothing was delivered to it yet." : "Its endpoint takes what is delivered.";
}

/** Returns in words how fast a subscription receives deliveries. Empty if it has no pace. */
export function paceWords(pace: Subscription["pace"]): string {
  const { max = 0, per = "", concurrency = 0 } = pace ?? {};
  const rate = max === 0 ? "" : `${max.toLocaleString("en")} in ${per}, evenly spaced`;
  const flight = concurrency === 0 ? "" : `${concurrency} at a time`;
  return [rate, flight].filter((part) => part !== "").join("; ");
}

/** Returns in words which events a subscription receives. */
export function receivesWords({
  toolkitSlug,
  triggerSlug,
  entityId,
  agent,
}: Pick<Subscription, "toolkitSlug" | "triggerSlug" | "entityId" | "agent">): string {
  const events = triggerSlug || (toolkitSlug === "" ? "every event" : `every event of ${toolkitSlug}`);
  const narrowed = entityId === "" ? events : `${events}, of ${entityId}`;
  return agent === undefined ? narrowed : `${narrowed} (an agent, over MCP)`;
}

type Known = (typeof ReplayState)[keyof typeof ReplayState];

const replayWords: Record<Known, Word> = {
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

/** Returns the word, colour and icon for the state of a replay. */
export function replayWord(state: ReplayState): Word {
  return (replayWords as Record<number, Word>)[state] ?? unknownWord(String(state));
}

/** Texts for the reasons in `Replay.reason`. `endpoint`: the address for which the replay waits, or "the endpoint". */
const replayReasons: Record<string, (endpoint: string) => string> = {
  backoff: (endpoint) => `waits: ${endpoint} fails`,
  pending: (endpoint) => `waits: ${endpoint} has yet to take what was queued`,
  inactive: (endpoint) => `waits: the subscription of ${endpoint} is inactive`,
  quota: () => "waits: the project has as many deliveries pending as it may",
  requested: () => "a person cancelled it",
  deleted: () => "its subscription was deleted",
  expired: () => "it was paused for 30 days",
};

/** Returns why a replay waits or was cancelled. The text names the endpoint for which it waits. Empty if there is no reason. */
export function replayReasonWords(reason: string, endpoint: string): string {
  return replayReasons[reason]?.(endpoint || "the endpoint") ?? reason;
}
