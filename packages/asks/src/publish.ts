import { createId } from "@svc/core";
import { readLoggedAskDeliveries } from "@svc/db/asks/read";
import { type AskRecord, findAsk } from "@svc/db/asks/repo";
import { addAskEvent, type LockedJobRow, lockJobOfAsk } from "@svc/db/asks/settle";
import { type Executor, withTransaction } from "@svc/db/connect";
import { type NewEvent, recordEvents } from "@svc/db/events/record";
import { type ClaimedJobTask, endJobTask, holdJobTask, moveJobTask, putJobTasks } from "@svc/db/job-tasks/queue";
import { appendJobEvents } from "@svc/db/jobs/log";
import { askEndpointsForProject } from "@svc/db/subscriptions/ask-endpoints";
import { askEvent } from "./ask-event.ts";
import type { AskContext } from "./context.ts";
import { publicationOf } from "./convert.ts";
import { readAskDeliveries } from "./delivery-state.ts";
import { type PublishSubject, subjectText, type WatchSubject } from "./task-subject.ts";

const watchMinMs = 1_000;
const watchMaxMs = 3_600_000;

/**
 * Runs a task of the kind `publish`: stores the deliveries of a question to the project's endpoints for questions. The same transaction
 * ends the task.
 */
export async function runPublish(context: AskContext, task: ClaimedJobTask, { askId }: PublishSubject): Promise<void> {
  // One transaction, so that svc sends each stage of an escalation exactly once.
  const isPublished = await withTransaction(context.db, async (tx) => {
    const job = await lockJobOfAsk(tx, task.jobId);
    if (!(await holdJobTask(tx, task))) return false;
    await endJobTask(tx, task);
    const ask = await findAsk(tx, task.jobId, askId);
    if (job === undefined || ask === undefined || ask.state === "withdrawn") return false;
    return publish(context, tx, job, ask);
  });
  if (isPublished) context.dispatcher.wake();
}

/**
 * Stores an event with the ask (a question to a person), and its deliveries to the project's ask endpoints (URLs that receive questions).
 * Returns false, and stores nothing, if the project has no active ask endpoint.
 */
async function publish(context: AskContext, tx: Executor, job: LockedJobRow, ask: AskRecord): Promise<boolean> {
  const { clock, nodeId } = context;
  const endpoints = await askEndpointsForProject(tx, ask.projectId).listActive("ask_raised");
  if (endpoints.length === 0) return false;
  const nowMs = clock.now();
  const event: NewEvent = {
    id: createId("evt", nowMs),
    projectId: ask.projectId,
    kind: "ask",
    toolkitSlug: "",
    triggerSlug: "",
    entityId: "",
    payload: publicationOf(ask),
    occurredAtMs: nowMs,
    receivedAtMs: nowMs,
    dedupeKey: "",
    deliveries: endpoints.map((id) => ({ id: createId("dlv", nowMs), subscriptionId: id, leased: false })),
  };
  await recordEvents(tx, [event], undefined, { owner: nodeId, untilMs: nowMs });
  await addAskEvent(tx, ask.id, event.id);
  await logDelivery(tx, job, { ...ask, eventIds: [...ask.eventIds, event.id] }, nowMs);
  const subject = subjectText({ kind: "watch", askId: ask.id });
  const { jobId, projectId } = ask;
  await putJobTasks(tx, [{ jobId, projectId, kind: "publish", subject, dueAt: nowMs + watchMinMs }]);
  return true;
}

/**
 * Writes a log entry if the delivery state of an ask (a question to a person) at the project's endpoints has changed since the last entry.
 * Returns the time of the next possible change in epoch milliseconds. Returns undefined if the state can no longer change.
 */
async function logDelivery(
  tx: Executor,
  job: LockedJobRow,
  ask: AskRecord,
  nowMs: number,
): Promise<number | undefined> {
  const [state] = await readAskDeliveries(tx, ask.projectId, [ask]);
  const from = (await readLoggedAskDeliveries(tx, [ask])).get(ask.id) ?? "";
  const to = state?.delivery ?? "";
  if (from !== to) {
    const event = askEvent("ask-delivery-changed", ask, { via: "endpoints", from, to }, job.principalChain);
    await appendJobEvents(tx, job.id, [event], nowMs);
  }
  return state?.nextAttemptAt;
}

/**
 * Runs a task of the kind `watch`: reads the state of an ask's deliveries to endpoints once, and adds an entry to the job's log if the
 * state has changed. If the state can still change, the same task becomes due again shortly after the next delivery attempt. Otherwise the
 * task ends.
 */
export async function runWatch(context: AskContext, task: ClaimedJobTask, { askId }: WatchSubject): Promise<void> {
  await withTransaction(context.db, async (tx) => {
    const job = await lockJobOfAsk(tx, task.jobId);
    if (!(await holdJobTask(tx, task))) return;
    const ask = await findAsk(tx, task.jobId, askId);
    const nowMs = context.clock.now();
    const next = job && ask && (await logDelivery(tx, job, ask, nowMs));
    if (next === undefined) await endJobTask(tx, task);
    else await moveJobTask(tx, task, nowMs + watchPauseMs(next - nowMs, task.attempt));
  });
}

/**
 * Returns how many milliseconds svc waits before it reads a question's deliveries again. `untilNextMs`: time until the next delivery
 * attempt. If this time has passed, the pause doubles with each read. `attempt`: number of reads so far.
 */
function watchPauseMs(untilNextMs: number, attempt: number): number {
  // If the time of the attempt has passed, the attempt is running or its endpoint fails.
  const pauseMs = untilNextMs > 0 ? untilNextMs + watchMinMs : watchMinMs * 2 ** Math.min(attempt, 6);
  return Math.min(Math.max(pauseMs, watchMinMs), watchMaxMs);
}
