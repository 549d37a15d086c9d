import { type AskRecord, findAsk } from "@svc/db/asks/repo";
import { exhaustAsk, type LockedJobRow, lockJobOfAsk, passAskOn } from "@svc/db/asks/settle";
import { type Executor, withTransaction } from "@svc/db/connect";
import type { DecisionDocument } from "@svc/db/documents/programs";
import { type ClaimedJobTask, endJobTask, holdJobTask, moveJobTask, putJobTasks } from "@svc/db/job-tasks/queue";
import { appendJobEvents } from "@svc/db/jobs/log";
import { askEvent } from "./ask-event.ts";
import type { AskContext } from "./context.ts";
import { type AskObservation, observationOf } from "./observer.ts";
import { tasksOfHop } from "./raise.ts";
import { settle } from "./settle.ts";
import type { HopSubject } from "./task-subject.ts";

/**
 * Ends a hop (stage of the escalation) whose time has expired, in one transaction. The question goes to the next contact. After the last
 * hop, the declared default applies; without a default, the ask is exhausted: it goes to no further contact. If an answer was committed
 * before, nothing changes.
 */
export async function runHop(
  context: AskContext,
  task: ClaimedJobTask,
  { askId, hopIndex }: HopSubject,
): Promise<void> {
  const settled = await withTransaction(context.db, async (tx) => {
    const job = await lockJobOfAsk(tx, task.jobId);
    if (!(await holdJobTask(tx, task))) return undefined;
    const ask = await findAsk(tx, task.jobId, askId);
    const nowMs = context.clock.now();
    const isOver = ask?.state !== "pending" || ask.hopIndex !== hopIndex || ask.deadlineAt === null;
    if (job === undefined || ask === undefined || isOver) await endJobTask(tx, task);
    else if (ask.deadlineAt !== null && ask.deadlineAt > nowMs) await moveJobTask(tx, task, ask.deadlineAt);
    else {
      // The old task is ended first, because the next hop (stage of the escalation) may create a task with the same subject.
      await endJobTask(tx, task);
      return endHop(context, tx, { job, ask, nowMs });
    }
    return undefined;
  });
  if (settled !== undefined) context.observer?.settled(settled);
}

type HopEnd = { readonly job: LockedJobRow; readonly ask: AskRecord; readonly nowMs: number };

/**
 * Ends a hop (stage of the escalation). If this settles the ask, returns the settled ask for logs and metrics. Otherwise returns undefined.
 */
async function endHop(context: AskContext, tx: Executor, end: HopEnd): Promise<AskObservation | undefined> {
  const { job, ask, nowMs } = end;
  const next = ask.escalation[ask.hopIndex + 1];
  if (next !== undefined) {
    await passOn(tx, end, next);
    return undefined;
  }
  if (ask.defaultContinuation === "") {
    await exhaust(tx, end);
    return undefined;
  }
  const decision: DecisionDocument = {
    continuation: ask.defaultContinuation,
    principalId: "",
    keyId: "",
    surface: "timeout",
    note: "",
    overridesJson: "",
    at: nowMs,
  };
  return (await settle(context, tx, { job, ask, decision })) ? observationOf(ask, decision) : undefined;
}

async function exhaust(tx: Executor, { job, ask, nowMs }: HopEnd): Promise<void> {
  if (!(await exhaustAsk(tx, ask.id))) return;
  const event = askEvent("ask-exhausted", ask, { hopIndex: ask.hopIndex }, [...job.principalChain, "clock"]);
  await appendJobEvents(tx, job.id, [event], nowMs);
}

async function passOn(
  tx: Executor,
  { job, ask, nowMs }: HopEnd,
  { principalId, timeoutSeconds }: AskRecord["escalation"][number],
): Promise<void> {
  const deadlineAt = timeoutSeconds === 0 ? null : nowMs + timeoutSeconds * 1000;
  if (!(await passAskOn(tx, ask.id, { fromHop: ask.hopIndex, principalId, deadlineAt }))) return;
  const hopIndex = ask.hopIndex + 1;
  const { id, jobId, projectId } = ask;
  await putJobTasks(
    tx,
    await tasksOfHop(tx, { id, jobId, projectId, hopIndex, addressed: [principalId], deadlineAt, nowMs }),
  );
  const payload = { from: ask.principalId, to: principalId, hopIndex };
  const event = askEvent("ask-escalated", ask, payload, [...job.principalChain, "clock"]);
  await appendJobEvents(tx, job.id, [event], nowMs);
}
