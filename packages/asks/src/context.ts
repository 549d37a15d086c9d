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
   * Applies the outcome of an ask (question to people) to its job; it is the engine's `settled`. It is called in the transaction that
   * settles the ask, under the job's lock. If this function is absent, the job's task becomes due, and the worker that claims the task
   * applies the outcome.
   */
  readonly moveJob?: ((tx: Executor, jobId: Id<"job">) => Promise<void>) | undefined;
  /** Returns the console's address with a trailing slash, or undefined if no console is served. */
  readonly consoleUrl?: (() => string) | undefined;
  readonly observer?: AskObserver;
  /** Called after a commit that made tasks due. It is the `wake` function of the job engine, which then takes the tasks. */
  readonly onDue: () => void;
  /** Called after a commit that may have added to a job's log. */
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
