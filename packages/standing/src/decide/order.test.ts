import { createId, type EventId, type JsonObject } from "@svc/core";
import type { StandingRunRecord } from "@svc/db/standing/runs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readStoredDefinition } from "../definition/read.ts";
import type { LoadedVersion } from "../versions.ts";
import { DecisionContext } from "./decision-context.ts";
import type { Occurrence } from "./occurrence.ts";

// Compares the outcomes of events, for random policies, with a model. The model applies the rules in the order of
// docs/reference/schedules/events.md and uses no database.

const nowMs = Date.UTC(2026, 0, 5);
const projectId = createId("prj", nowMs);
const programId = createId("stp", nowMs);

type Policies = {
  readonly dedupe: boolean;
  readonly collect: number;
  readonly rate: number;
  readonly budget: number;
  readonly overlap: "skip" | "queueOne" | "queueAll" | "allow";
  readonly whenOver: "queue" | "skip";
};

type Posted = { readonly key: string; readonly lane: string };

const policies: fc.Arbitrary<Policies> = fc.record({
  dedupe: fc.boolean(),
  collect: fc.constantFrom(0, 0, 2, 3),
  rate: fc.constantFrom(0, 1, 2, 4),
  budget: fc.constantFrom(0, 1, 3),
  overlap: fc.constantFrom("skip" as const, "queueOne" as const, "queueAll" as const, "allow" as const),
  whenOver: fc.constantFrom("queue" as const, "skip" as const),
});
const posts: fc.Arbitrary<readonly Posted[]> = fc.array(
  fc.record({ key: fc.constantFrom("a", "b", "c"), lane: fc.constantFrom("x", "y") }),
  { maxLength: 12 },
);

async function versionOf({ dedupe, collect, rate, budget, overlap, whenOver }: Policies): Promise<LoadedVersion> {
  const of = (name: string) => ({ $ref: `event.payload.${name}` });
  const text = JSON.stringify({
    version: 1,
    source: { trigger: { slug: "alerts.incident_opened" } },
    ...(dedupe && { dedupe: { key: of("key"), window: "1h" } }),
    ...(collect > 0 && { collect: { wait: "1h", max: collect, key: of("lane") } }),
    ...(rate > 0 && { rate: { max: rate, per: "1m", whenOver } }),
    ...(budget > 0 && { budget: { runs: budget, whenOver } }),
    overlap: { policy: overlap, ...(overlap === "allow" && { max: 2 }), key: of("lane") },
    program: { version: 1, title: "t", steps: [] },
  });
  const definition = await readStoredDefinition(text);
  return {
    definition,
    record: { version: 1 },
    program: {},
    next: () => undefined,
    size: 0,
  } as unknown as LoadedVersion;
}

const nothingOpen = { programId, started: 0, queued: 0, jobIds: [], newestQueued: null };
const lanes = ["x", "y"].map((lane) => ({ ...nothingOpen, lane }));

function decisionsOf(version: LoadedVersion): DecisionContext {
  const program = { id: programId, projectId, state: "active", pauseReason: "", pauseDetail: "", nextAt: null };
  return new DecisionContext({
    program: { ...program, previousAt: null, failuresInRow: 0 } as unknown as DecisionContext["facts"]["program"],
    ...{ version, lanes, rates: new Map(), knownKeys: new Map(), windows: [] as StandingRunRecord[], nowMs },
    used: { runs: 0, toolCalls: 0, writes: 0 },
    room: { left: 1_000 },
    unstarted: new Map(),
    seal: () => Buffer.alloc(0),
    nextDayMs: () => nowMs + 86_400_000,
  });
}

function occurrenceOf({ key, lane }: Posted, index: number): Occurrence {
  const eventId: EventId = createId("evt", nowMs + index);
  const event = { id: eventId, payload: { key, lane } } as JsonObject;
  return {
    ...{ kind: "event", sourceKey: `e:${eventId}`, fireAt: nowMs + index, missed: 0, previousAt: null },
    ...{ callerKeyId: null, input: undefined, given: { event, events: [event] } },
    event: { eventId, atMs: nowMs + index, bytes: 10 },
  };
}

/** Returns the outcome of each event: `duplicate`, `collected`, `started`, or why it waits (`wait …`) or is left out (`skip …`). */
function model(policy: Policies, list: readonly Posted[]): string[] {
  const seen = new Set<string>();
  const lanes = new Map<string, { started: number; queue: number[] }>();
  const outcomes: string[] = [];
  let begun = 0;
  for (const [index, { key, lane: name }] of list.entries()) {
    const lane = lanes.get(name) ?? { started: 0, queue: [] };
    lanes.set(name, lane);
    const waits = (why: string) => {
      lane.queue.push(index);
      outcomes.push(`wait ${why}`);
    };
    const over = (why: string) => (policy.whenOver === "skip" ? outcomes.push(`skip ${why}`) : waits(why));
    if (policy.dedupe && seen.has(key)) {
      outcomes.push("skip duplicate");
      continue;
    }
    seen.add(key);
    const isFull = lane.started >= (policy.overlap === "allow" ? 2 : 1);
    if (policy.collect > 0) outcomes.push("collected");
    // All events come at the same time, so as many runs start as the rate allows.
    else if (policy.rate > 0 && begun >= policy.rate) over("rate");
    else if (policy.budget > 0 && begun >= policy.budget) over("budget");
    else if (isFull || (lane.queue.length > 0 && policy.overlap !== "allow")) {
      if (policy.overlap === "skip" || policy.overlap === "allow") outcomes.push("skip overlap");
      else {
        const newest = lane.queue.at(-1);
        if (policy.overlap === "queueOne" && newest !== undefined) {
          lane.queue.pop();
          outcomes[newest] = "skip superseded";
        }
        waits("overlap");
      }
    } else {
      begun++;
      lane.started++;
      outcomes.push("started");
    }
  }
  return outcomes;
}

/** Returns the outcome of each event from a decision context. Skipped runs that were merged into one count separately. */
function outcomesOf(decisions: DecisionContext): string[] {
  const words = { started: "started", queued: "wait", skipped: "skip", refused: "refuse" } as const;
  const runs = decisions.runs.added.flatMap(({ state, reason, count }) => {
    const word = words[state as keyof typeof words];
    return Array.from({ length: count }, () => (reason === "" ? word : `${word} ${reason}`));
  });
  return [...runs, ...decisions.windows.events.map(() => "collected")];
}

test("acceptance 10: events meet dedupe, collect, rate, budget and overlap in this order, whatever the policies", async () => {
  await fc.assert(
    fc.asyncProperty(policies, posts, async (policy, list) => {
      const decisions = decisionsOf(await versionOf(policy));
      for (const [index, post] of list.entries()) decisions.add(occurrenceOf(post, index));
      expect(outcomesOf(decisions).toSorted()).toEqual(model(policy, list).toSorted());
      // Each event is in exactly one window, and no window has more events than it may.
      const windows = Map.groupBy(decisions.windows.events, ({ runId }) => runId);
      for (const own of windows.values()) expect(own.length).toBeLessThanOrEqual(policy.collect);
    }),
    { numRuns: 300 },
  );
});
