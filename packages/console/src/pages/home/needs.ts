import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { GetBacklogResponse } from "@svc/gen/stats";
import type { IconName } from "../../ui/icon.tsx";
import { durationWords } from "../../words/time.ts";
import type { Tone } from "../../words/word.ts";

/** An entry of the Home page's list of work that continues only after a person acts, such as a question or a failing endpoint. */
export type Need = {
  id: string;
  tone: Tone;
  icon: IconName;
  title: string;
  /** The action that the person must take, in words. */
  says: string;
  /** Time for which the oldest of this work has waited, in words. Empty if it is not known. */
  age: string;
  /** Verb and object of the page that the entry leads to, such as `Answer`. */
  action: string;
  to: string;
  search: Record<string, string>;
};

/**
 * Maximum count of each kind of waiting work, for example of open questions. The service counts no further. If a count reaches this
 * maximum, the page shows "10,000 and more".
 */
const countedMax = 10_000;

const minuteMs = 60_000;

function some(count: number, one: string, more: string): string {
  return count === 1 ? `1 ${one}` : `${count >= countedMax ? "10,000 and more" : count.toLocaleString("en")} ${more}`;
}

/**
 * Returns the actions that wait for people, most urgent first. `quarantined`: number of quarantined webhook posts (which svc could not turn
 * into events); undefined if the browser is not signed in as administrator.
 */
export function needsOf(
  backlog: GetBacklogResponse,
  quarantined: { count: number; more: boolean } | undefined,
  now: number,
): Need[] {
  const { pendingAsks, oldestAskAt, failingSubscriptions, givenUpSubscriptions, deadLetters, expiredAccounts } =
    backlog;
  const oldestMs = oldestAskAt === undefined ? 0 : now - timestampMs(oldestAskAt);
  const age = oldestMs < minuteMs ? "" : durationWords(oldestMs);
  const all: (Omit<Need, "age"> & { age?: string; count: number })[] = [
    {
      id: "asks",
      count: pendingAsks,
      tone: "warn",
      icon: "ask",
      age,
      action: "Answer",
      title: some(pendingAsks, "question waiting", "questions waiting"),
      says: pendingAsks === 1 ? "Its job is paused until you answer." : "Their jobs are paused until you answer.",
      to: "/p/$projectId/asks",
      search: {},
    },
    {
      id: "given-up",
      count: givenUpSubscriptions,
      tone: "bad",
      icon: "subscription",
      action: "Turn on",
      title: some(givenUpSubscriptions, "endpoint was turned off", "endpoints were turned off"),
      says: "Nothing is delivered to them. Fix the endpoint, turn it on, then resend.",
      to: "/p/$projectId/subscriptions",
      search: {},
    },
    {
      id: "failing",
      count: failingSubscriptions,
      tone: "warn",
      icon: "subscription",
      action: "See why",
      title: some(failingSubscriptions, "endpoint failing", "endpoints failing"),
      says: "Still retrying.",
      to: "/p/$projectId/subscriptions",
      search: {},
    },
    {
      id: "dead-letters",
      count: deadLetters,
      tone: "bad",
      icon: "delivery",
      action: "Resend",
      title: `${some(deadLetters, "delivery failed for good", "deliveries failed for good")} in the last 24 hours`,
      says: deadLetters === 1 ? "Open it to see why, then resend it." : "Open them to see why, then resend them.",
      to: "/p/$projectId/deliveries",
      search: { state: "dead_letter", range: "24h" },
    },
    {
      id: "accounts",
      count: expiredAccounts,
      tone: "warn",
      icon: "plug",
      action: "Reconnect",
      title: some(expiredAccounts, "account expired", "accounts expired"),
      says: "Calls with them fail. Reconnect them.",
      to: "/p/$projectId/accounts",
      search: { state: "expired" },
    },
    {
      id: "quarantine",
      count: quarantined?.count ?? 0,
      tone: "warn",
      icon: "lock",
      action: "Release",
      title: `${some(quarantined?.count ?? 0, "post is", quarantined?.more ? "and more posts are" : "posts are")} in quarantine`,
      says: "Verified posts that svc could not turn into events. Fix the app's definition, then release them.",
      to: "/admin/quarantine",
      search: {},
    },
  ];
  return all.filter(({ count }) => count > 0).map(({ count: _count, ...need }) => ({ age: "", ...need }));
}

/** Returns the label of a backlog's age group, such as `under 1 min`. The label of the last group is `1 h and more`. */
export function ageWords(ages: readonly { belowSeconds: number }[], place: number): string {
  const below = ages[place]?.belowSeconds ?? 0;
  if (below > 0) return `under ${durationWords(below * 1_000)}`;
  return `${durationWords((ages[place - 1]?.belowSeconds ?? 0) * 1_000)} and more`;
}
