import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { attemptErrorWords } from "./deliveries.ts";
import { durationWords } from "./time.ts";
import { unknownWord, type Word } from "./word.ts";

/** The states of a subscription's health, as `SubscriptionHealth.state` has them. */
export const healthStates = ["well", "slow", "failing", "backing_off", "inactive"] as const;

/** One of the states of a subscription's health. */
export type HealthState = (typeof healthStates)[number];

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

/** How the health of a subscription is shown. */
export function healthWord(state: string): Word {
  return (words as Record<string, Word>)[state] ?? unknownWord(state);
}

/** Why subscriptions are inactive, as `Subscription.inactiveReason` has it. */
const inactiveReasons: Record<string, string> = {
  deactivated: "It was paused. Nothing is delivered to it until it is re-enabled.",
  failing: "It was ended after 5 days of nothing but failures. Mend the endpoint, then re-enable it.",
  revoked: "The key or grant that an agent made it with has ended, or was narrowed. It is removed within a minute.",
  gone: "Its endpoint answered 410 Gone for an hour, which says that it is wanted no more. Re-enable it if it is.",
};

/** What is known of a subscription's health. */
type Health = {
  state: string;
  failingSince?: Timestamp | undefined;
  backoffUntil?: Timestamp | undefined;
  lastSuccessAt?: Timestamp | undefined;
  lastError?: string;
  p50Ms?: number;
};

/** Why a subscription does not deliver, and what happens next, in words; `now` in milliseconds. */
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
