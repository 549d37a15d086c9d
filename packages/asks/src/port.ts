import { type AskRecord, findAsk, findPendingAsk, listJobAsks } from "@svc/db/asks/repo";
import { settleAsk } from "@svc/db/asks/settle";
import type { AskDecisionDocument, DecisionDocument } from "@svc/db/documents/programs";
import { deleteJobTasks } from "@svc/db/job-tasks/queue";
import { askEvent } from "./ask-event.ts";
import { prepareAsk } from "./raise.ts";
import { openOverrides } from "./shown-overrides.ts";
import type { AskPort, AskView } from "./types.ts";

/** What the engine has of asks. */
export const askPort: AskPort = {
  prepare: prepareAsk,
  async find(db, jobId, askId, sealer) {
    const ask = await findAsk(db, jobId, askId);
    if (ask === undefined) return undefined;
    const { overrides, decision } = ask;
    const overridesJson = overrides === null ? (decision?.overridesJson ?? "") : openOverrides(sealer, ask, overrides);
    return { ...viewOf(ask), overridesJson };
  },
  async list(db, jobId) {
    return (await listJobAsks(db, jobId)).map(viewOf);
  },
  async withdraw(tx, { jobId, principalChain }) {
    const ask = await findPendingAsk(tx, jobId);
    if (ask === undefined || !(await settleAsk(tx, ask.id, { state: "withdrawn" }))) return [];
    await deleteJobTasks(tx, { jobId, kinds: ["hop", "reach", "publish"], subject: ask.id });
    return [askEvent("ask-withdrawn", ask, {}, principalChain)];
  },
};

function viewOf(ask: AskRecord): AskView {
  const { decision } = ask;
  return {
    id: ask.id,
    stepId: ask.stepId,
    pointId: ask.pointId,
    kind: ask.kind,
    state: ask.state,
    approvalId: ask.approvalId,
    refusedAnswers: ask.refusedAnswers,
    decision: decision === null ? undefined : withoutChain(decision),
    principalChain: decision?.chain ?? [],
  };
}

function withoutChain({ chain: _chain, ...decision }: AskDecisionDocument): DecisionDocument {
  return decision;
}
