import { createId } from "@svc/core";
import type { OverlapPolicy } from "@svc/db/schema/words";
import { expect, test } from "vitest";
import type { Overlap } from "../definition/definition.ts";
import { decideStart, rateAfter, type StartFacts } from "./decision.ts";

const job = createId("job", 0);
const waiting = createId("srn", 0);
const hour = 3_600_000;
const nowMs = Date.UTC(2026, 0, 5, 9);

function overlapOf(policy: OverlapPolicy, change: Partial<Overlap> = {}): Overlap {
  return { policy, max: 1, queueMax: 2, queueForMs: hour, key: undefined, ...change };
}

function facts(change: Partial<StartFacts> = {}): StartFacts {
  const lane = { started: 0, queued: 0, jobIds: [], newestQueued: null };
  const free = { overlap: overlapOf("skip"), lane, rate: undefined, budget: undefined, hasRoom: true, nowMs };
  return { ...free, isWaiting: false, ...change };
}

const busy = { started: 1, queued: 0, jobIds: [job], newestQueued: null };
const busyAndQueued = { ...busy, queued: 1, newestQueued: waiting };

// Each overlap policy in three situations: no run is active, one run is active, and one run is active while another waits.
test.each([
  ["skip", "start", "skip overlap", "skip overlap"],
  ["allow", "start", "skip overlap", "skip overlap"],
  ["queueOne", "start", "queue overlap", "queue overlap, supersedes"],
  ["queueAll", "start", "queue overlap", "queue overlap"],
  ["cancelRunning", "start", "queue overlap, cancels", "queue overlap, supersedes, cancels"],
] as const)("acceptance 10: %s, by what is under way and waits", (policy, free, whileBusy, whileQueued) => {
  const decided = (lane: StartFacts["lane"]) => {
    const decision = decideStart(facts({ overlap: overlapOf(policy), lane }));
    if (decision.kind === "start") return "start";
    const supersedes = decision.kind === "queue" && decision.supersedes === waiting ? ", supersedes" : "";
    const cancels = decision.kind === "queue" && decision.cancels?.includes(job) ? ", cancels" : "";
    return `${decision.kind} ${decision.reason}${supersedes}${cancels}`;
  };
  expect([decided(facts().lane), decided(busy), decided(busyAndQueued)]).toEqual([free, whileBusy, whileQueued]);
});

test("what is left out names the job that kept it from starting", () => {
  expect(decideStart(facts({ lane: busy }))).toEqual({ kind: "skip", reason: "overlap", blockingJobId: job });
});

test("acceptance 10: a queue takes as many as it may", () => {
  const lane = { ...busy, queued: 2, newestQueued: waiting };
  expect(decideStart(facts({ overlap: overlapOf("queueAll"), lane }))).toMatchObject({
    kind: "skip",
    reason: "queue_full",
  });
});

test("who waits starts when the lane is free, and waits on while it is not", () => {
  expect(decideStart(facts({ lane: { ...facts().lane, queued: 3 }, isWaiting: true }))).toEqual({ kind: "start" });
  const held = decideStart(facts({ lane: busyAndQueued, overlap: overlapOf("skip"), isWaiting: true }));
  expect(held).toEqual({ kind: "queue", reason: "overlap", notBefore: null });
});

test("rate comes before budget, budget before overlap, overlap before the project's bound", () => {
  const rate = { policy: { max: 1, perMs: hour, whenOver: "skip", key: undefined }, at: nowMs + 2 * hour } as const;
  const used = { runs: 5, toolCalls: 0, writes: 0 };
  const policy = { runs: 5, toolCalls: undefined, writes: undefined, whenOver: "skip" } as const;
  const budget = { policy, used, nextDayMs: nowMs + 15 * hour };
  const all = facts({ rate, budget, lane: busy, hasRoom: false });
  const reasons = [all, { ...all, rate: undefined }, { ...all, rate: undefined, budget: undefined }].map((given) => {
    const decision = decideStart(given);
    return decision.kind === "start" ? "" : decision.reason;
  });
  expect(reasons).toEqual(["rate", "budget", "overlap"]);
  const room = decideStart(facts({ overlap: overlapOf("queueAll"), hasRoom: false }));
  expect(room).toMatchObject({ kind: "queue", reason: "project_runs" });
});

test("what is over a rate waits until the rate allows it, and a budget until the next day", () => {
  const rate = { policy: { max: 2, perMs: hour, whenOver: "queue", key: undefined }, at: nowMs + hour } as const;
  expect(decideStart(facts({ rate }))).toMatchObject({ kind: "queue", reason: "rate", notBefore: nowMs + hour / 2 });
  const policy = { runs: 1, toolCalls: undefined, writes: undefined, whenOver: "queue" } as const;
  const budget = { policy, used: { runs: 1, toolCalls: 0, writes: 0 }, nextDayMs: nowMs + 15 * hour };
  expect(decideStart(facts({ budget }))).toMatchObject({
    kind: "queue",
    reason: "budget",
    notBefore: nowMs + 15 * hour,
  });
});

test("of any number of starts no more pass in any time than the rate allows, and that many do", () => {
  const policy = { max: 3, perMs: 60_000, whenOver: "skip", key: undefined } as const;
  const started: number[] = [];
  let at: number | undefined;
  for (let ms = nowMs; ms < nowMs + 10 * 60_000; ms += 1_000) {
    if (decideStart(facts({ rate: { policy, at }, nowMs: ms })).kind !== "start") continue;
    at = rateAfter(policy, at, ms);
    started.push(ms);
  }
  // The first starts may follow each other at once. Later starts are spread over time.
  expect(started.slice(0, 3)).toEqual([nowMs, nowMs + 1_000, nowMs + 2_000]);
  expect(started.length).toBeGreaterThanOrEqual(30);
  expect(started.length).toBeLessThanOrEqual(33);
});
