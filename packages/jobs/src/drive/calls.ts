import { assertExhaustive } from "@svc/core";
import type { JsonValue } from "@svc/program";
import type { ToolCaller } from "@svc/tools";
import { hasSensitive, shownOf } from "../state/shown.ts";
import type { StepEffects } from "../steps/effects.ts";
import type { OnFaultPoint } from "./fault-points.ts";
import { appKey, ledgerKey } from "./keys.ts";

/**
 * What calls tools for jobs, once each. A write goes out under a key of its own for each attempt, which the ledger holds before it
 * is sent: asked for again, it answers what was recorded. `isFirst`: it is not looked for before, since none was made.
 */
export function createCall(
  caller: ToolCaller,
  onFaultPoint: OnFaultPoint | undefined,
  { isFirst = false }: { readonly isFirst?: boolean } = {},
): StepEffects["call"] {
  return async (state, { call, place, args, appGeneration }, { tool, attempt, takeRecord }) => {
    const { id, projectId, keyId, generation } = state;
    const isRead = tool.action.class === "read";
    await onFaultPoint?.("before-call", { stepId: place.stepId });
    const called = await caller.call({
      caller: { projectId, keyId, job: { id, stepId: place.stepId } },
      toolSlug: call.tool,
      args,
      entityId: call.entity,
      accountId: undefined,
      idempotencyKey: isRead ? undefined : ledgerKey(id, place, { generation, attempt }),
      appKey: isRead ? undefined : appKey(id, place, appGeneration),
      isDryRun: false,
      isFirst,
      // A write's outcome is kept at once: a map's node that dies leaves no more of them in doubt than were under way.
      takeRecord: isRead ? takeRecord : undefined,
      pinned: tool,
      timeoutMs: call.timeoutMs,
      // It gives way to other work instead, and comes back.
      limitWaitMs: 0,
      secrets: hasSensitive(state.loaded) ? shownOf(state).secrets : undefined,
    });
    switch (called.outcome) {
      case "answered":
      case "held": {
        await onFaultPoint?.("after-call", { stepId: place.stepId });
        const { result, isReplay } = called.answer;
        return { kind: "answered", ...result, value: (result.value ?? {}) as JsonValue, isReplay };
      }
      case "in_progress":
        return { kind: "busy" };
      case "limited":
        return { kind: "limited", waitMs: called.retryAfterMs };
      case "no_such_tool":
        return { kind: "gone" };
      case "key_reused":
        // The key is made of the call's place: another call under it is a fault of the service.
        throw new Error(`the key of ${place.stepId} was used for another call`);
      default:
        return assertExhaustive(called);
    }
  };
}
