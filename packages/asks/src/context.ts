import type { AddressGuard, Clock, Id, NodeId, Sealer } from "@svc/core";
import { type AskRecord, findAsk, findPendingAsk, listJobAsks } from "@svc/db/asks/repo";
import { settleAsk } from "@svc/db/asks/settle";
import type { Database, Executor } from "@svc/db/connect";
import type { AskDecisionDocument, DecisionDocument } from "@svc/db/documents/programs";
import { deleteJobTasks } from "@svc/db/job-tasks/queue";
import type { Dispatcher } from "@svc/delivery";
import type { ToolCaller } from "@svc/tools";
import { askEvent } from "./ask-event.ts";
import type { AskObserver } from "./observer.ts";
import { prepareAsk } from "./raise.ts";
import { openOverrides } from "./read-json.ts";
import type { AskPort, AskView } from "./types.ts";

/** Dependencies of the functions that send questions of jobs to people and settle them. Such a question is called an ask. */
export type AskContext = {
  readonly db: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly guard: AddressGuard;
  readonly nodeId: NodeId;
  readonly caller: ToolCaller;
  readonly dispatcher: Pick<Dispatcher, "wake" | "expire">;
  /**
   * Lets a job continue with the decision of its ask (question to a person). Called in the transaction that settles the ask, while the
   * job's row is locked. In svc this is the method `settled` of the job engine. If the function is absent, the transaction makes the job's
   * own task due instead, and the worker that claims this task lets the job continue.
   */
  readonly moveJob?: ((tx: Executor, jobId: Id<"job">) => Promise<void>) | undefined;
  /** Returns the console's address with a trailing slash. The property is undefined if svc serves no console. */
  readonly consoleUrl?: (() => string) | undefined;
  readonly observer?: AskObserver;
  /**
   * Called after each commit that stored a task which is due at once. In svc this wakes the job engine, so that a worker claims the task
   * without waiting for the next poll of the database.
   */
  readonly onDue: () => void;
  /** Called after each commit that may have added entries to the log of this job, so that open streams of the log send them. */
  readonly onLogged: (jobId: Id<"job">) => void;
};

/** The functions for asks (questions to people) that the engine (the code that runs jobs) calls. */
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
