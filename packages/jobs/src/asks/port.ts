import { type AskRecord, deleteJobTasks, findAsk, findPendingAsk, listJobAsks, settleAsk } from "@svc/db";
import { askEvent } from "./ask-event.ts";
import { prepareAsk } from "./raise.ts";
import type { StoredDecision } from "./settle.ts";
import type { AskKind, AskPort, AskView } from "./types.ts";

/** What the engine has of asks. */
export const askPort: AskPort = {
  prepare: prepareAsk,
  async find(db, jobId, askId) {
    const ask = await findAsk(db, jobId, askId);
    return ask && viewOf(ask);
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
  const stored = storedDecision(ask);
  const { chain = [], ...decision } = stored ?? {};
  return {
    id: ask.id,
    stepId: ask.stepId,
    pointId: ask.pointId,
    kind: ask.kind as AskKind,
    state: ask.state,
    approvalId: ask.approvalId,
    refusedAnswers: ask.refusedAnswers,
    decision: stored && (decision as StoredDecision),
    principalChain: chain,
  };
}

/** The decision of a settled ask as its row keeps it. */
export function storedDecision({ decision }: Pick<AskRecord, "decision">): StoredDecision | undefined {
  return decision === null ? undefined : (decision as StoredDecision);
}
