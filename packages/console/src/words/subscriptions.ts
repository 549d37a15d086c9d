import { durationMs, type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { ReplayState, type Subscription, type SubscriptionCredentials } from "@svc/gen/triggers";
import { attemptErrorWords } from "./deliveries.ts";
import { sentence } from "./text.ts";
import { durationWords } from "./time.ts";
import { unknownWord, type Word } from "./word.ts";

/** The states of a subscription's health, as the API returns them (`SubscriptionHealth.state`). */
export const healthStates = ["well", "slow", "failing", "backing_off", "inactive"] as const;

/** One of the health states of a subscription. */
type HealthState = (typeof healthStates)[number];

const words: Record<HealthState, Word> = {
  well: { word: "Healthy", tone: "ok", icon: "check", says: "The latest attempt succeeded." },
  slow: {
    word: "Slow",
    tone: "warn",
    icon: "schedule",
    says: "The endpoint accepts deliveries, and typically needs 2 seconds or longer.",
  },
  failing: {
    word: "Failing",
    tone: "bad",
    icon: "alert",
    says: "The latest attempt failed. svc tries again.",
  },
  backing_off: {
    word: "Failing",
    tone: "bad",
    icon: "clock",
    says: "The endpoint is failing. svc sends nothing until the next test.",
  },
  inactive: { word: "Off", tone: "plain", icon: "ban", says: "svc delivers nothing to this endpoint." },
};

const paused: Word = {
  ...{ word: "Paused", tone: "warn", icon: "pause" },
  says: "svc delivers nothing until you resume it. Events are kept.",
};

/**
 * Returns the word, colour and icon for the health of a subscription. `inactiveReason`: why the subscription is inactive; empty if it is
 * active. `pauser`: name of the actor that paused the subscription. If `pauser` is empty, the word is just `Paused`.
 */
export function healthWord(state: string, inactiveReason: string, pauser = ""): Word {
  if (inactiveReason === "paused") return pauser === "" ? paused : { ...paused, word: `Paused by ${pauser}` };
  return (words as Record<string, Word>)[state] ?? unknownWord(state);
}

/**
 * Returns who paused a subscription, as the project's own pages name that actor: `the customer` if it was paused in the portal. Returns an
 * empty text if a key of the project paused it.
 */
export function pauserOf({ pausedBy }: Pick<Subscription, "pausedBy">): string {
  return pausedBy === "portal" ? "the customer" : "";
}

const kept = "Events are kept for 30 days, and delivered when you resume it.";

/** The sentences for the reasons why a subscription is inactive (`Subscription.inactiveReason`). */
const inactiveReasons: Record<string, string> = {
  deactivated: "Turned off. Nothing is delivered until you turn it on.",
  paused: `Paused. ${kept}`,
  failing: "svc turned it off after 5 days of failures. Fix the endpoint, then turn it on.",
  revoked: "The agent's key or permission has ended or became smaller. This is deleted within a minute.",
  overflow:
    "The endpoint failed, and more than 100,000 deliveries were waiting. Fix the endpoint, turn it on, and resend the missed events.",
  gone: "The endpoint answered 410 Gone for an hour, so nothing is sent any more. Turn it on if it is still wanted.",
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

/**
 * Returns in words why a subscription does not deliver, and what happens next. `now`: in epoch milliseconds. `pauser`: name of the actor
 * that paused the subscription; if it is empty, the sentence names no actor.
 */
export function healthSentence(
  { state, failingSince, backoffUntil, lastSuccessAt, lastError = "", p50Ms = 0 }: Health,
  inactiveReason: string,
  now: number,
  pauser = "",
): string {
  if (inactiveReason === "paused" && pauser !== "") return sentence(`${pauser} paused it. ${kept}`);
  if (state === "inactive") return inactiveReasons[inactiveReason] ?? "Off.";
  if (state === "slow")
    return `The endpoint accepts deliveries, but half of the answers take ${durationWords(p50Ms)} or longer.`;
  const why = attemptErrorWords(lastError);
  const since =
    failingSince === undefined
      ? "The endpoint is failing"
      : `The endpoint has been failing for ${durationWords(Math.max(0, now - timestampMs(failingSince)))}`;
  const fails = why === "" ? since : `${why} ${since}`;
  if (state === "backing_off") {
    const wait = backoffUntil === undefined ? 0 : timestampMs(backoffUntil) - now;
    const next =
      wait > 0 ? `svc sends one delivery as a test in ${durationWords(wait)}` : "svc sends one delivery as a test now";
    return `${fails}. ${next}. If it succeeds, the others follow.`;
  }
  if (state === "failing") return `${fails}. svc retries the deliveries.`;
  return lastSuccessAt === undefined ? "Nothing was delivered yet." : "The endpoint accepts deliveries.";
}

const periods: Readonly<Record<string, string>> = { "1s": "a second", "1m": "a minute", "1h": "an hour" };

/** The periods from which a user chooses for a subscription's rate limit: a second, a minute or an hour. */
export const paceOptions: readonly { value: string; words: string }[] = Object.entries(periods).map(
  ([value, words]) => ({ value, words }),
);

/** Returns in words the rate limit of a subscription: how fast svc delivers to its endpoint. Empty if there is no limit. */
export function paceWords(pace: Pick<NonNullable<Subscription["pace"]>, "max" | "per" | "concurrency">): string {
  const { max, per, concurrency } = pace;
  const rate = max === 0 ? "" : `at most ${max.toLocaleString("en")} in ${periods[per] ?? per}, evenly spaced`;
  const flight = concurrency === 0 ? "" : `at most ${concurrency} at a time`;
  return [rate, flight].filter((part) => part !== "").join("; ");
}

/** Returns in words which events a subscription receives. */
export function receivesWords({
  toolkitSlug,
  triggerSlug,
  entityId,
  match,
  agent,
}: Pick<Subscription, "toolkitSlug" | "triggerSlug" | "entityId" | "match" | "agent">): string {
  const named = match?.triggerSlugs.join(", ") || triggerSlug;
  const of = toolkitSlug === "events" ? "own" : toolkitSlug;
  const events = named || (of === "" ? "All events" : `All ${of} events`);
  const parts = [
    events,
    ...(entityId === "" ? [] : [`of ${entityId}`]),
    ...((match?.filter ?? "") === "" ? [] : ["filtered"]),
  ];
  return agent === undefined ? parts.join(", ") : `${parts.join(", ")} (an agent, over MCP)`;
}

/** Names of the formats of deliveries (`SubscriptionFormat.kind`). */
const formats: Readonly<Record<string, string>> = {
  svc: "svc",
  standard: "Standard Webhooks",
  cloudevents: "CloudEvents, JSON body",
  cloudevents_binary: "CloudEvents, headers and bare payload",
  custom: "your own body",
};

/** The formats of deliveries, as options of a field. */
export const formatOptions: readonly { value: string; words: string }[] = Object.entries(formats).map(
  ([value, words]) => ({ value, words }),
);

/** Returns the name of a format of deliveries. `kind`: its name in the API; empty for svc's own format. */
export function formatWords(kind: string): string {
  return formats[kind || "svc"] ?? kind;
}

const auths: Readonly<Record<string, string>> = {
  "": "none",
  basic: "user name and password",
  bearer: "fixed token",
  oauth2: "OAuth2, client credentials",
};

/** The kinds of authentication at an endpoint, as options of a field. */
export const authOptions: readonly { value: string; words: string }[] = Object.entries(auths).map(([value, words]) => ({
  value,
  words,
}));

/** Returns which credentials svc sends to an endpoint: the names of the headers, and the kind of authentication. */
export function credentialsWords(
  { headerNames, auth }: Pick<SubscriptionCredentials, "headerNames" | "auth"> = { headerNames: [], auth: "" },
): string {
  const headers = headerNames.length === 0 ? [] : [`headers ${headerNames.join(", ")}`];
  const words = [...headers, ...(auth === "" ? [] : [auths[auth] ?? auth])];
  return words.length === 0 ? "none" : words.join("; ");
}

/** Returns in words how svc retries failed deliveries of a subscription. */
export function retryWords(retry: Subscription["retry"]): string {
  const { schedule = [], giveUpAfter, neverGiveUp = false, timeoutMs = 0 } = retry ?? {};
  const waits = schedule.map((wait) => durationWords(durationMs(wait)));
  const words = [
    ...(waits.length === 0 ? [] : [`after ${waits.join(", ")}`]),
    ...(neverGiveUp ? ["never deactivated because of failures"] : []),
    ...(giveUpAfter === undefined ? [] : [`deactivated after ${durationWords(durationMs(giveUpAfter))} of failures`]),
    ...(timeoutMs === 0 ? [] : [`at most ${durationWords(timeoutMs)} per attempt`]),
  ];
  return words.length === 0 ? "as set for the deployment" : words.join("; ");
}

/** Returns in words how many past events a subscription would receive. */
export function previewWords({ scanned, matched }: { scanned: number; matched: number }): string {
  if (scanned === 0) return "No past event to try it on.";
  const events = scanned === 1 ? "the last event" : `the last ${scanned.toLocaleString("en")} events`;
  if (matched === 0) return `None of ${events} would be delivered.`;
  if (matched === scanned)
    return scanned === 1 ? "The last event would be delivered." : `All of ${events} would be delivered.`;
  return `${matched.toLocaleString("en")} of ${events} would be delivered.`;
}

/**
 * Returns a sentence with the number of events for which a subscription's filter failed, for example because a field is absent. Such events
 * are not delivered. `isPast`: true for past events; false for a preview.
 */
export function filterFaultWords(count: number, isPast: boolean): string {
  const events = count === 1 ? "1 event" : `${count.toLocaleString("en")} events`;
  const them = count === 1 ? "it" : "they";
  const end = isPast ? (count === 1 ? "was not delivered" : "were not delivered") : "would not be delivered";
  return `The filter could not be evaluated for ${events}, so ${them} ${end}.`;
}

type Known = (typeof ReplayState)[keyof typeof ReplayState];

const replayWords: Record<Known, Word> = {
  [ReplayState.UNSPECIFIED]: unknownWord(""),
  [ReplayState.RUNNING]: { word: "Running", tone: "info", icon: "replay", says: "svc queues deliveries." },
  [ReplayState.PAUSED]: {
    word: "Paused",
    tone: "warn",
    icon: "pause",
    says: "svc queues nothing until you resume it.",
  },
  [ReplayState.DONE]: { word: "Done", tone: "ok", icon: "check", says: "All events of the range were queued." },
  [ReplayState.CANCELLED]: {
    word: "Cancelled",
    tone: "plain",
    icon: "ban",
    says: "It was stopped early. Deliveries that were already queued are still sent.",
  },
};

/** Returns the word, colour and icon for the state of a replay. */
export function replayWord(state: ReplayState): Word {
  return (replayWords as Record<number, Word>)[state] ?? unknownWord(String(state));
}

/** Texts for the reasons in `Replay.reason`. `endpoint`: the address for which the replay waits, or "the endpoint". */
const replayReasons: Record<string, (endpoint: string) => string> = {
  backoff: (endpoint) => `Waiting: ${endpoint} is failing.`,
  pending: (endpoint) => `Waiting until ${endpoint} has received what is queued.`,
  inactive: (endpoint) => `Waiting: ${endpoint} is off or paused.`,
  quota: () => "Waiting until fewer deliveries of the project are pending.",
  requested: () => "A person cancelled it.",
  deleted: () => "Its endpoint was deleted.",
  expired: () => "It was paused for 30 days.",
};

/**
 * Returns why a replay waits or was cancelled. The text contains `endpoint`, the address of the endpoint that receives it. Empty if there is
 * no reason.
 */
export function replayReasonWords(reason: string, endpoint: string): string {
  return replayReasons[reason]?.(endpoint || "the endpoint") ?? reason;
}
