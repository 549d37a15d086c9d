import type { AskInput } from "../asks/types.ts";
import type { EngineContext } from "./context.ts";
import type { ParkDocument } from "./documents.ts";
import type { Run } from "./run.ts";
import type { Next } from "./step-end.ts";

/** The question whether a plan may run. */
export function planQuestion(
  title: string,
): Pick<
  AskInput,
  | "pointId"
  | "kind"
  | "question"
  | "continuations"
  | "answerSchemaJson"
  | "escalation"
  | "defaultContinuation"
  | "counts"
  | "stepId"
> {
  return {
    stepId: "",
    pointId: "approval",
    kind: "approval",
    question: `Approve the plan "${title}"?`,
    continuations: ["proceed", "abort"],
    answerSchemaJson: "",
    escalation: [],
    defaultContinuation: undefined,
    counts: undefined,
  };
}

/** The park of a job whose plan waits for approval. */
export function planPark(question: ReturnType<typeof planQuestion>, requestId: string, nowMs: number): ParkDocument {
  return {
    reason: "approval",
    stepId: "",
    since: nowMs,
    judgment: {
      pointId: question.pointId,
      requestId,
      question: question.question,
      continuations: question.continuations,
      answerSchemaJson: "",
      raisedAt: nowMs,
    },
  };
}

/** Parks a job that was simulated first on the approval of its plan. */
export async function requestPlanApproval(run: Run): Promise<Next> {
  const { job, context } = run;
  const question = planQuestion(run.program.title);
  const prepared = await prepare(context, run, question);
  job.planApprovalId = prepared.approvalId;
  run.move("pending_plan_approval", "simulated");
  run.park(planPark(question, prepared.id, run.now));
  run.setProgress({ stepId: "", askId: prepared.id });
  run.noteAll(prepared.events);
  run.addTasks(prepared.tasks);
  run.also((tx) => prepared.write(tx));
  await run.commit("end");
  await run.faultPoint("after-ask-commit");
  return "left";
}

function prepare({ asks }: EngineContext, run: Run, question: ReturnType<typeof planQuestion>) {
  const { job } = run;
  return asks.prepare(run.db, {
    ...question,
    jobId: job.id,
    projectId: job.projectId,
    keyId: job.keyId,
    approvers: run.program.approval.escalation,
    standingProgramId: job.standingProgramId,
    principalChain: run.chain,
    nowMs: run.now,
  });
}
