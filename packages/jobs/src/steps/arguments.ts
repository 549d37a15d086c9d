import { argumentsWith, type MapCall, type RunScope, resolveArguments, secretsOf } from "@svc/program";
import type { UndoOf } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import type { Invocation } from "./effects.ts";
import type { CallFault } from "./invoke.ts";

/** Fills in the arguments of a call, with what answers put in their place, or says why they cannot be. */
export function fillCall(
  call: Pick<MapCall, "id" | "args">,
  scope: RunScope,
  stepArgs: JobState["stepArgs"],
): Pick<Invocation, "args" | "secretUses"> | { readonly fault: CallFault } {
  const isChanged = Object.hasOwn(stepArgs, call.id);
  const template = isChanged ? argumentsWith(call, { params: {}, args: stepArgs }) : call.args;
  const resolved = resolveArguments(template, scope);
  if ("value" in resolved) return { args: resolved.value, secretUses: secretsOf(template) };
  const { code, message } = resolved.fault;
  return { fault: { code, message, plain: message } };
}

/** A call that ended well, by its place; `scope` has the row and the answers that its undo may name, its own as `output`. */
export type DoneCall = {
  readonly call: MapCall;
  readonly stepId: string;
  readonly ordinal: number;
  readonly scope: RunScope;
};

/**
 * How a call that ended well is undone; undefined when nothing is to be. Arguments are filled in now: what they name may be gone
 * later.
 */
export function undoOf(state: JobState, { call, stepId, ordinal, scope }: DoneCall): UndoOf | undefined {
  const { undo } = call;
  if (undo === undefined || state.isSimulated || state.loaded.program.sagaOn.length === 0) return undefined;
  const resolved = resolveArguments(undo.args, scope);
  const args = "value" in resolved ? resolved.value : undefined;
  return { stepId, ordinal, toolSlug: undo.tool, entityId: undo.entity, args };
}
