import type { DecisionDocument } from "@svc/db/documents/programs";
import type { Change, Edit, JobQuestion } from "../../state/change.ts";
import { stepOf } from "../../state/flow.ts";
import type { JobState } from "../../state/job.ts";
import type { Port } from "../port.ts";
import { answered } from "./answer.ts";
import { askInput, parkOn } from "./put-question.ts";

/**
 * Suspends the job until a person answers a question. One commit stores the question, the log entries and the new state, and ends the task
 * that runs the job. In a simulation run, the job answers the question itself.
 */
export async function question(
  state: JobState,
  asked: JobQuestion,
  port: Port,
  { isBeside = false }: { readonly isBeside?: boolean } = {},
): Promise<Change> {
  if (state.isSimulated) return answersItself(state, asked, port);
  const { stepId } = asked;
  const isOwn = asked.kind === "in_doubt" || asked.kind === "undo_stuck";
  if (!isOwn && state.used.asks >= state.loaded.program.limits.asks) {
    return { edits: [], next: { kind: "limit", stepId, limit: "asks" } };
  }
  const waits = underWay(state, asked);
  const nowMs = port.clock.now();
  const prepared = await port.prepareAsk(askInput(state, asked, nowMs));
  const park = parkOn(asked, { requestId: prepared.id, nowMs });
  const { id: askId } = prepared;
  const waiting: Edit =
    waits.kind === "undo"
      ? { kind: "undo", undo: { ...waits.undo, askId } }
      : { kind: "progress", progress: { ...waits.progress, askId } };
  const put: Edit[] = [waiting, { kind: "asked", prepared, isOfPlan: false }];
  if (isBeside) {
    const kept: Edit = { kind: "block", stepId, block: { kind: "asked", park } };
    return { edits: [{ kind: "use", used: { asks: 1 } }, kept, ...put], next: { kind: "commit" } };
  }
  return {
    edits: [
      { kind: "use", used: { asks: 1 } },
      { kind: "move", to: "parked", reason: park.reason },
      { kind: "park", park },
      { kind: "deadline", clock: "stops" },
      ...put,
    ],
    next: { kind: "leave" },
  };
}

/** Returns the progress of the step that asks the question. For a question of the kind `undo_stuck`, returns the progress of the undo. */
function underWay({ undo, positions }: JobState, { kind, stepId }: JobQuestion) {
  if (kind === "undo_stuck") return { kind: "undo", undo: { stepId, ...undo } } as const;
  const progress = positions.find((position) => position.progress?.stepId === stepId)?.progress;
  if (progress === undefined) throw new Error(`step ${stepId} asks, but has not begun`);
  return { kind: "progress", progress } as const;
}

/**
 * Returns the answer that a simulated job gives itself: `proceed` if the question allows it, or else `skip`. If the question allows
 * neither, returns the change that ends the simulation.
 */
async function answersItself(
  state: JobState,
  { stepId, pointId, kind, continuations }: JobQuestion,
  port: Port,
): Promise<Change> {
  const continuation = (["proceed", "skip"] as const).find((choice) => continuations.includes(choice));
  const payload = { pointId, ...(continuation && { continuation }) };
  const asked: Edit[] = [
    { kind: "use", used: { asks: 1 } },
    { kind: "note", note: { type: "ask-simulated", stepId, payload } },
  ];
  const { principalChain: chain } = state;
  if (continuation === undefined) {
    const { index } = stepOf(state.loaded.flow, stepId);
    return {
      edits: [...asked, { kind: "finish", stepId, state: "partial", to: index }],
      next: { kind: "finish", status: "succeeded", reason: "simulation-ended", chain },
    };
  }
  const decision: DecisionDocument = { continuation, ...nobody, at: port.clock.now() };
  const { edits, next } = await answered(state, { stepId, kind, decision, overridesJson: "", chain }, port);
  return { edits: [...asked, ...edits], next };
}

const nobody = { principalId: "", keyId: "", surface: "simulation", note: "", overridesJson: "" } as const;
