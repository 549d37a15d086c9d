import type { Change, Edit, Question } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import { destructiveOf, type Plan } from "../steps/plan-text.ts";
import { confirmQuestion, planQuestion } from "../steps/questions.ts";
import type { Port } from "./port.ts";
import { askInput, parkOn } from "./put-question.ts";

/** What a job comes from that waits for a person before it begins. */
type Before = "simulated" | "retried";

/**
 * Parks a job that was simulated first, or is taken on, on the approval of its plan. `confirmBy`: the contact who confirms it after that.
 */
export function requestPlanApproval(
  state: JobState,
  port: Port,
  reason: Before,
  confirmBy: string | undefined,
): Promise<Change> {
  return put(state, port, { asked: planQuestion(planOf(state)), reason, confirmBy });
}

/** Parks a job on the answer of the contact who confirms it. Without a reason it has waited for the approval of its plan. */
export function requestConfirmation(
  state: JobState,
  port: Port,
  contact: string,
  reason: Before | undefined,
): Promise<Change> {
  return put(state, port, { asked: confirmQuestion(planOf(state), contact), reason, confirmBy: undefined });
}

type Put = {
  readonly asked: Question;
  readonly reason: Before | undefined;
  readonly confirmBy: string | undefined;
};

async function put(state: JobState, port: Port, { asked, reason, confirmBy }: Put): Promise<Change> {
  const nowMs = port.clock.now();
  const prepared = await port.prepareAsk(askInput(state, asked, nowMs));
  const moved: Edit[] = reason === undefined ? [] : [{ kind: "move", to: "pending_plan_approval", reason }];
  return {
    edits: [
      ...moved,
      { kind: "park", park: parkOn(asked, { requestId: prepared.id, nowMs }) },
      { kind: "plan", plan: { askId: prepared.id, ...(confirmBy !== undefined && { confirmBy }) } },
      { kind: "asked", prepared, isOfPlan: asked.kind === "approval" },
    ],
    next: { kind: "leave" },
  };
}

function planOf({ loaded, estimate, isRehearsal }: JobState): Plan {
  const { program, tools, skills } = loaded;
  const isDestructive = (slug: string) => tools.get(slug)?.action.class === "destructive";
  return { program, estimate, destructive: destructiveOf(program, { isDestructive, skills }), isRehearsal };
}
