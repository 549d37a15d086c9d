import { createHash } from "node:crypto";
import { assertExhaustive, type ConfirmRule, keysOfChain } from "@svc/core";
import { type AskRecord, findAsk } from "@svc/db/asks/repo";
import { type JobUnderLock, lockJobOfAsk, noteAskReached } from "@svc/db/asks/settle";
import { type Executor, withTransaction } from "@svc/db/connect";
import { makeConsoleLink } from "@svc/db/console/links";
import { type Contact, contactsForProject } from "@svc/db/contacts/repo";
import { type ClaimedJobTask, endJobTask, holdJobTask, moveJobTask, putJobTasks } from "@svc/db/job-tasks/queue";
import { appendJobEvents } from "@svc/db/jobs/log";
import { jobsForProject } from "@svc/db/jobs/repo";
import { findKeyById } from "@svc/db/keys/repo";
import { readConfirmRules } from "@svc/db/projects/plan-policy";
import type { CallAnswer, Called } from "@svc/tools";
import { answerLinkLifeMs } from "./answer-link.ts";
import { askEvent } from "./ask-event.ts";
import { fillReachArguments, type ReachArguments } from "./contacts/reach-arguments.ts";
import type { AskContext } from "./context.ts";
import type { ReachLink } from "./reach-link.ts";
import { isOfCauser, isOwnConfirmation, type ReachSubject, subjectText } from "./task-subject.ts";

type Reach = NonNullable<Contact["reach"]>;

/** Waits before the second, third and fourth try. */
const retryWaitsMs = [10_000, 60_000, 300_000];
/** How soon a call that may still run on another node is asked for again. */
const inProgressPollMs = 2_000;

/** What came of a try. `doubt`: it may have been executed, and is not sent again. `waiting`: it still runs elsewhere, or a call limit holds it. */
type Tried =
  | { readonly kind: "reached"; readonly callId: string }
  | { readonly kind: "failed"; readonly code: string; readonly retryAfterMs: number; readonly isFinal?: true }
  | { readonly kind: "doubt"; readonly code: string }
  | { readonly kind: "waiting"; readonly waitMs: number };

/**
 * Tells a contact of an ask with the contact's own tool. The call is in the ledger before it is sent, under a key of its own for
 * every try: a node that takes over learns what came of it. Whatever becomes of it keeps nobody from answering.
 */
export async function runReach(context: AskContext, task: ClaimedJobTask, subject: ReachSubject): Promise<void> {
  const { db } = context;
  const ask = await findAsk(db, task.jobId, subject.askId);
  const contact = ask && (await contactsForProject(db, ask.projectId).find(subject.principalId));
  if (ask?.state !== "pending" || contact === undefined || contact.reach === null) {
    await endJobTask(db, task);
    return;
  }
  const { reach } = contact;
  const tried = await tryToReach(context, ask, subject, { ...contact, reach });
  const nowMs = context.clock.now();
  if (tried.kind === "waiting") {
    await moveJobTask(db, task, nowMs + tried.waitMs);
    return;
  }
  await withTransaction(db, async (tx) => {
    const job = await lockJobOfAsk(tx, task.jobId);
    if (job === undefined || !(await holdJobTask(tx, task))) return;
    await endJobTask(tx, task);
    await conclude(tx, { job, ask, subject, reach, tried, nowMs });
  });
}

async function tryToReach(
  context: AskContext,
  ask: AskRecord,
  subject: ReachSubject,
  contact: Contact & { readonly reach: Reach },
): Promise<Tried> {
  const { reach } = contact;
  const { projectId, keyId, jobId, stepId } = ask;
  const key = callKey(ask, subject);
  const argsOf = (link: string) => {
    return fillReachArguments(reach.args, { question: ask.question, jobId, requestId: ask.id, link });
  };
  const late = async () => {
    const { url, secrets } = await reachLink(context, ask, contact);
    return { args: argsOf(url), secrets };
  };
  const confirm = await rulesOfReach(context, ask, contact);
  const called = await context.caller.call({
    caller: { projectId, keyId, job: { id: jobId, stepId }, ...(confirm && { confirm }) },
    toolSlug: reach.toolSlug,
    // A link is new with each try: what makes two tries the same call has its name in its place.
    args: argsOf("{link}"),
    ...(namesLink(reach.args) && { late }),
    entityId: reach.entityId,
    accountId: undefined,
    idempotencyKey: key,
    appKey: key,
    isDryRun: false,
    limitWaitMs: 0,
  });
  return triedBy(called);
}

/**
 * By which rules the call is held: those of the ask's causers, unless a key of another hand put the contact, and so confirmed that it is
 * told this way. Undefined for none.
 */
async function rulesOfReach(
  { db }: AskContext,
  ask: AskRecord,
  { keyId: putBy }: Pick<Contact, "keyId">,
): Promise<readonly ConfirmRule[] | undefined> {
  const { projectId, jobId } = ask;
  const job = await jobsForProject(db, projectId).find(jobId);
  const principalChain = job?.principalChain ?? [];
  const rules = await readConfirmRules(db, projectId, [ask.keyId, ...keysOfChain(principalChain)]);
  if (rules.length === 0) return undefined;
  const isOther = putBy !== null && !(await isOfCauser(db, { ask, job: { principalChain } }, putBy));
  return isOther ? undefined : rules;
}

function triedBy(called: Called): Tried {
  switch (called.outcome) {
    case "answered":
    case "held":
      return triedByAnswer(called.answer);
    case "in_progress":
      return { kind: "waiting", waitMs: inProgressPollMs };
    case "limited":
      return { kind: "waiting", waitMs: called.retryAfterMs };
    case "key_reused":
      // The contact was changed between the call and a repeat of it: what came of the first is in the ledger.
      return { kind: "doubt", code: "outcome_unknown" };
    case "refused":
      // The service reaches contacts as nobody who is bound.
      throw called.refusal;
    case "no_such_tool":
      return { kind: "failed", code: "tool_not_found", retryAfterMs: 0 };
    default:
      return assertExhaustive(called);
  }
}

function triedByAnswer({ result, callId }: CallAnswer): Tried {
  if (result.outcome === "ok") return { kind: "reached", callId: callId ?? "" };
  if (result.outcome === "outcome_unknown") return { kind: "doubt", code: result.outcome };
  // Nobody releases it: to try again would be the same.
  if (result.outcome === "held") return { kind: "failed", code: result.outcome, isFinal: true, retryAfterMs: 0 };
  return { kind: "failed", code: result.outcome, retryAfterMs: result.retryAfterMs ?? 0 };
}

type ReachEnd = {
  readonly job: JobUnderLock;
  readonly ask: AskRecord;
  readonly subject: ReachSubject;
  readonly reach: Reach;
  readonly tried: Exclude<Tried, { kind: "waiting" }>;
  readonly nowMs: number;
};

async function conclude(tx: Executor, { job, ask, subject, reach, tried, nowMs }: ReachEnd): Promise<void> {
  const { principalId, hopIndex, tries } = subject;
  const { toolSlug, entityId } = reach;
  const told = { via: "tool", principalId, toolSlug };
  const log = (type: string, payload: object) =>
    appendJobEvents(tx, job.id, [askEvent(type, ask, { ...told, ...payload }, job.principalChain)], nowMs);
  if (tried.kind === "reached") {
    const toolCallId = tried.callId;
    await noteAskReached(tx, ask.id, { principalId, hopIndex, toolSlug, entityId, toolCallId, deliveredAt: nowMs });
    await log("ask-delivery-changed", { from: "", to: "delivered", toolCallId });
    return;
  }
  const { code } = tried;
  const waitMs = tried.kind === "failed" && tried.isFinal !== true ? retryWaitsMs[tries] : undefined;
  if (tried.kind === "doubt") await log("call-in-doubt", { code });
  else if (waitMs === undefined) await log("ask-delivery-changed", { from: "", to: "failed", code });
  else {
    await log("call-retried", { code, attempt: tries + 1 });
    const again = subjectText({ ...subject, tries: tries + 1 });
    const dueAt = nowMs + Math.max(waitMs, tried.kind === "failed" ? tried.retryAfterMs : 0);
    await putJobTasks(tx, [{ jobId: job.id, projectId: job.projectId, kind: "reach", subject: again, dueAt }]);
  }
}

function callKey({ jobId, id }: AskRecord, { hopIndex, tries, principalId }: ReachSubject): string {
  return createHash("sha256")
    .update(JSON.stringify(["svc-ask", "reach", jobId, id, hopIndex, principalId, tries]))
    .digest("hex");
}

/**
 * Where a contact that is told of a question answers it: by a link of its own, where the approver's key that put the contact vouches for
 * it. An approval, a call that the same key made and is to be confirmed, and a contact that no such key stands behind, has the console's
 * page of the question, for who can sign in.
 */
async function reachLink(
  { db, clock, consoleUrl }: AskContext,
  ask: AskRecord,
  { principalId, keyId, createdAt: contactCreatedAt }: Pick<Contact, "principalId" | "keyId" | "createdAt">,
): Promise<ReachLink> {
  const { projectId, jobId, id } = ask;
  if (consoleUrl === undefined) return { url: "(the console is off)", secrets: [] };
  const nowMs = clock.now();
  const key = ask.approvalId === "" && keyId !== null ? await findKeyById(db, keyId) : undefined;
  const job = key && ask.kind === "confirm" ? await jobsForProject(db, projectId).find(jobId) : undefined;
  const confirmed = { ask, job: job ?? { principalChain: [] } };
  const isCaller = key !== undefined && (await isOwnConfirmation(db, confirmed, key.id));
  const vouches =
    !isCaller && key?.role === "approver" && key.revokedAt === null && (key.expiresAt ?? Infinity) > nowMs;
  if (!vouches) return { url: `${consoleUrl()}p/${projectId}/asks/${jobId}/${id}`, secrets: [] };
  const { token } = await makeConsoleLink(db, {
    ...{ purpose: "answer", projectId, keyId: key.id, nowMs, expiresAt: nowMs + answerLinkLifeMs },
    target: { answer: { jobId, requestId: id, principalId, contactCreatedAt } },
  });
  return { url: `${consoleUrl()}answer#${token}`, secrets: [token] };
}

/** Whether the arguments tell where the question is answered. */
function namesLink(args: ReachArguments): boolean {
  return JSON.stringify(args).includes("{link}");
}
