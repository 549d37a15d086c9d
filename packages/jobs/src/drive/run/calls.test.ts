import { createId } from "@svc/core";
import { createTestClock } from "@svc/testing/clock";
import type { CallReply, ToolCaller } from "@svc/tools";
import { expect, test } from "vitest";
import type { JobState } from "../../state/job.ts";
import type { AttemptResult, CallTurn, Invocation } from "../../steps/effects.ts";
import { createCalls } from "./calls.ts";

const minute = 60_000;
const action = { slug: "tracker.find", class: "read", mcp: { tool: "find", digest: "old" } };
const tool = { action, toolkit: {} } as unknown as CallTurn["tool"];
const invocation = {
  ...{ call: { tool: action.slug, entity: "ann" }, place: { stepId: "find", ordinal: 0, callId: "find" } },
  ...{ args: {}, secretUses: [], generation: 1, appGeneration: 1 },
} as unknown as Invocation;

/** A job that calls a tool of an MCP server, which withholds it as long as `isWithheld` is true. */
function withheldJob(changes: Partial<JobState> = {}) {
  const clock = createTestClock();
  const at = { sent: 0, accepted: "old" as string | undefined, isWithheld: true };
  const caller: ToolCaller = {
    async call() {
      at.sent++;
      const result = at.isWithheld
        ? { outcome: "not_callable", message: "tracker.find has changed", isWithheld: true }
        : { outcome: "ok", value: { found: 1 } };
      return { outcome: "answered", answer: { result, isReplay: false } } as unknown as CallReply;
    },
    ready: async () => undefined,
    acceptedDescription: async () => at.accepted,
  };
  const calls = createCalls({ caller, clock, confirms: { confirmerOf: async () => undefined } }, undefined);
  const loaded = { hasSensitive: false };
  const state = {
    ...{ id: createId("job", 1), projectId: createId("prj", 1), status: "running", isSimulated: false, generation: 1 },
    ...{ callSeed: "", binding: null, keyId: createId("key", 1), restoredFrom: null, loaded, positions: [] },
    ...changes,
  } as unknown as JobState;
  const attempt = async (before?: AttemptResult) => {
    const withheld = before?.kind === "withheld" ? before.withheld : undefined;
    return calls.call(state, invocation, { tool, attempt: 0, withheld });
  };
  return { at, clock, attempt };
}

test("a withheld call is not sent again before another description is accepted or it is time to ask the server", async () => {
  const { at, clock, attempt } = withheldJob();
  const first = await attempt();
  expect(first).toMatchObject({ kind: "withheld", message: "tracker.find has changed", waitMs: 2_000 });
  clock.advance(2_000);
  const second = await attempt(first);
  expect(second).toMatchObject({ kind: "withheld", message: undefined });
  expect(at.sent).toBe(1);
  at.accepted = "new";
  at.isWithheld = false;
  expect(await attempt(second)).toMatchObject({ kind: "answered", outcome: "ok", value: { found: 1 } });
  expect(at.sent).toBe(2);
});

test("the server is asked again after five minutes, and less often the longer the call waits", async () => {
  const { at, clock, attempt } = withheldJob();
  let last = await attempt();
  const triesAfter = async (ms: number) => {
    clock.advance(ms);
    last = await attempt(last);
    return at.sent;
  };
  expect(await triesAfter(4 * minute)).toBe(1);
  expect(await triesAfter(minute)).toBe(2);
  expect(await triesAfter(4 * minute)).toBe(2);
  expect(await triesAfter(60 * minute)).toBe(3);
  expect(last).toMatchObject({ waitMs: minute });
  expect(await triesAfter(59 * minute)).toBe(3);
  at.isWithheld = false;
  expect(await triesAfter(minute)).toBe(4);
  expect(last).toMatchObject({ kind: "answered", outcome: "ok" });
});

test("a call of a tool that was removed fails, and so do the calls of a simulation and of an undo", async () => {
  const removed = withheldJob();
  const waiting = await removed.attempt();
  removed.at.accepted = undefined;
  expect(await removed.attempt(waiting)).toMatchObject({ kind: "answered", outcome: "not_callable" });
  for (const changes of [{ isSimulated: true }, { status: "compensating" }] as const)
    expect(await withheldJob(changes).attempt()).toMatchObject({ kind: "answered", outcome: "not_callable" });
});
