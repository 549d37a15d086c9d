import { createId } from "@svc/core";
import type { Change, Edit } from "../state/change.ts";
import type { ProgressOf } from "../state/progress.ts";
import { isEnd } from "../state/statuses.ts";
import { fillCall } from "./arguments.ts";
import {
  awaited,
  childFault,
  childValue,
  countChild,
  isTight,
  limitsIn,
  mostOf,
  newChild,
  roomOf,
  skillInput,
  standWith,
  uncountChild,
  undoOfChild,
  withinMost,
  withUsed,
} from "./children.ts";
import type { Child, StepEffects } from "./effects.ts";
import type { CallFault } from "./invoke.ts";
import type { StepAt, StepKind } from "./step-kind.ts";

/** Step kind `run`: runs a skill as a child job. The step begins the child, waits until the child ends, and takes its result. */
export const runKind: StepKind<"run"> = {
  needs: "nothing",
  set: undefined,
  advance: advanceRun,
  retried: "anew",
  answer: undefined,
};

async function advanceRun(at: StepAt<"run">, effects: StepEffects): Promise<Change> {
  const { state, step, progress } = at;
  if (progress?.retriesId !== undefined) return retryChild(at, progress, effects);
  if (progress?.childId === undefined) return startChild(at, effects);
  const [child] = await effects.readChildren(state, [progress.childId]);
  if (child === undefined) {
    const message = `${progress.childId} does not exist any more`;
    return { edits: [], next: { kind: "fail", stepId: step.id, code: "CHILD_MISSING", message } };
  }
  const stands = standWith(state, step.id, isEnd(child.status) ? [] : [child], effects.clock.now());
  if (!isEnd(child.status)) return { edits: stands, next: { kind: "await", children: [awaited(child)] } };
  effects.shared?.take(child);
  return takeEnd(at, child, stands);
}

/**
 * Returns the change that continues the child job of an earlier attempt at the point where that child job stopped. If the child job has
 * succeeded, the change uses its result.
 */
async function retryChild(
  { state, step }: StepAt<"run">,
  { retriesId: id, resendsUnknown }: ProgressOf<"run">,
  effects: StepEffects,
): Promise<Change> {
  if (id === undefined) throw new Error(`step ${step.id} cannot continue a job`);
  const [child] = await effects.readChildren(state, [id]);
  const progress: Edit = { kind: "progress", progress: { kind: "run", stepId: step.id, childId: id } };
  if (child === undefined) return { edits: [progress], next: { kind: "on" } };
  const uncounted = uncountChild(step.id, child);
  // The child succeeded, but its result could not be computed. Its calls are counted and can be undone. Another run would give the same
  // error, so the step fails.
  const fault = child.status === "succeeded" ? childFault(child, step.skill) : undefined;
  if (fault !== undefined) return { edits: [progress], next: { kind: "fail", stepId: step.id, ...fault } };
  if (child.status === "succeeded") return { edits: [...uncounted, progress], next: { kind: "on" } };
  const { skill, loaded } = await effects.loadSkill(state, step.skill);
  // The child job's limits apply to all its attempts together, and its earlier attempts have already used a part. So the new limits are
  // this used part plus the amount that the parent job can still give.
  const { shared, clock } = effects;
  const most = withUsed(mostOf(skill.estimate), child.used);
  const left = withUsed(shared?.room() ?? roomOf(state), child.used);
  if (shared?.isHeld && isTight(left, most)) {
    return { edits: [], next: { kind: "until", atMs: clock.now() + effects.busyPollMs } };
  }
  const room = shared === undefined ? left : withinMost(left, most);
  const limits = limitsIn(room, loaded.program.limits, child.limits.concurrency);
  shared?.giveBack(child.used);
  shared?.hold(id, limits);
  const payload = { jobId: id, toolSlug: step.skill, version: state.loaded.skills[step.skill]?.version, retried: true };
  return {
    edits: [
      ...uncounted,
      { kind: "retryChild", child: { id, limits, resendsUnknown: resendsUnknown === true } },
      progress,
      { kind: "note", note: { type: "child-started", stepId: step.id, payload } },
    ],
    next: { kind: "await", children: [{ id, standing: "under way" }] },
  };
}

/** Returns the change that begins the step's child job. One commit stores the new child and the wait for it. */
async function startChild(at: StepAt<"run">, effects: StepEffects): Promise<Change> {
  const { state, step, progress } = at;
  const begun: Edit[] = progress === undefined ? [{ kind: "begin", step }] : [];
  const fail = (fault: CallFault): Change => {
    return { edits: begun, next: { kind: "fail", stepId: step.id, ...fault } };
  };
  const filled = await fillCall({ id: step.id, args: step.input }, state, effects);
  if ("fault" in filled) return fail(filled.fault);
  const skill = await effects.loadSkill(state, step.skill);
  const checked = skillInput(skill.loaded, filled.args);
  if ("fault" in checked) return fail(checked.fault);
  // There must be no `await` from here until the child's part of the limits is reserved. Otherwise branches that run at the same time could
  // reserve the same part.
  const { shared, clock } = effects;
  const most = mostOf(skill.skill.estimate);
  const room = shared === undefined ? roomOf(state) : withinMost(shared.room(), most);
  const { limits } = state.loaded.program;
  if (shared?.isHeld && isTight(room, most)) {
    return { edits: begun, next: { kind: "until", atMs: clock.now() + effects.busyPollMs } };
  }
  if (room.toolCalls === 0 && skill.skill.estimate.callsMax > 0) {
    return { edits: begun, next: { kind: "limit", stepId: step.id, limit: "toolCalls" } };
  }
  const id = createId("job", clock.now());
  const place = { stepId: step.id, ordinal: 0, callId: step.id };
  const concurrency = Math.floor(limits.concurrency / (shared?.branches ?? 1));
  const child = newChild(
    state,
    { name: step.skill, ...skill },
    { id, place, input: checked.input, limits: limitsIn(room, skill.loaded.program.limits, concurrency) },
  );
  shared?.hold(id, child.limits);
  const payload = { jobId: id, toolSlug: step.skill, version: skill.skill.version };
  return {
    edits: [
      ...begun,
      { kind: "child", child },
      { kind: "progress", progress: { kind: "run", stepId: step.id, childId: id } },
      { kind: "note", note: { type: "child-started", stepId: step.id, payload } },
    ],
    next: { kind: "await", children: [{ id, standing: "under way" }] },
  };
}

function takeEnd({ state, step, instruction }: StepAt<"run">, child: Child, stands: readonly Edit[]): Change {
  const edits: Edit[] = [...stands, ...countChild(step.id, child)];
  const undo = undoOfChild(state, child, { stepId: step.id, ordinal: 0, name: step.skill });
  if (undo !== undefined) edits.push({ kind: "armUndo", entries: [undo] });
  const fault = childFault(child, step.skill);
  if (fault !== undefined) return { edits, next: { kind: "fail", stepId: step.id, ...fault } };
  const ended = child.outcome === "partial" ? "partial" : state.isSimulated ? "simulated" : "completed";
  return {
    edits: [
      ...edits,
      { kind: "value", stepId: step.id, value: childValue(child) },
      { kind: "finish", stepId: step.id, state: ended, to: instruction.next },
    ],
    next: { kind: "on" },
  };
}
