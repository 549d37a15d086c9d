import { createHash } from "node:crypto";
import { assertExhaustive, type ConfirmRule, keysOfChain } from "@svc/core";
import { type AskRecord, findAsk } from "@svc/db/asks/repo";
import { type LockedJobRow, lockJobOfAsk, recordAskContact } from "@svc/db/asks/settle";
import { type Executor, withTransaction } from "@svc/db/connect";
import { makeConsoleLink } from "@svc/db/console/links";
import { type Contact, contactsForProject } from "@svc/db/contacts/repo";
import { type ClaimedJobTask, endJobTask, holdJobTask, moveJobTask, putJobTasks } from "@svc/db/job-tasks/queue";
import { appendJobEvents } from "@svc/db/jobs/log";
import { jobsForProject } from "@svc/db/jobs/repo";
import { findKeyById } from "@svc/db/keys/repo";
import { readConfirmRules } from "@svc/db/projects/plan-policy";
import type { CallAnswer, CallReply } from "@svc/tools";
import { answerLinkLifeMs } from "./answer-link.ts";
import { askEvent } from "./ask-event.ts";
import { fillReachArguments, type ReachArguments } from "./contacts/reach-arguments.ts";
import type { AskContext } from "./context.ts";
import type { ReachLink } from "./reach-link.ts";
import { isOfCauser, isOwnConfirmation, type ReachSubject, subjectText } from "./task-subject.ts";

type Reach = NonNullable<Contact["reach"]>;

/** Waits before the second, third and fourth attempt to send a question to a contact, in milliseconds. */
const retryWaitsMs = [10_000, 60_000, 300_000];
/**
 * Pause in milliseconds before svc looks again for the result of the tool call that sends a question, if the call may still run on another
 * node.
 */
const inProgressPollMs = 2_000;

/**
 * Result of an attempt to send a question. `doubt`: the call that sends the question may have been executed, so it is not repeated.
 * `waiting`: the call still runs on another node, or a call limit delays it.
 */
type ReachAttempt =
  | { readonly kind: "reached"; readonly callId: string }
  | { readonly kind: "failed"; readonly code: string; readonly retryAfterMs: number; readonly isFinal?: true }
  | { readonly kind: "doubt"; readonly code: string }
  | { readonly kind: "waiting"; readonly waitMs: number };

/**
 * Runs a task of the kind `reach`: sends a question to a contact with the tool that the contact's settings name. Each attempt has its own
 * idempotency key, and svc stores the attempt in the ledger (record of tool calls) before it sends the call. So a node that takes over the
 * task finds the result instead of sending the message twice. If sending fails, people can still answer in the console or through the API.
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
  const attempt = await tryToReach(context, ask, subject, { ...contact, reach });
  const nowMs = context.clock.now();
  if (attempt.kind === "waiting") {
    await moveJobTask(db, task, nowMs + attempt.waitMs);
    return;
  }
  await withTransaction(db, async (tx) => {
    const job = await lockJobOfAsk(tx, task.jobId);
    if (job === undefined || !(await holdJobTask(tx, task))) return;
    await endJobTask(tx, task);
    await conclude(tx, { job, ask, subject, reach, attempt, nowMs });
  });
}

async function tryToReach(
  context: AskContext,
  ask: AskRecord,
  subject: ReachSubject,
  contact: Contact & { readonly reach: Reach },
): Promise<ReachAttempt> {
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
    // Each attempt creates a new link. The ledger stores the placeholder `{link}` instead of the link, so that the arguments of all
    // attempts are equal.
    args: argsOf("{link}"),
    ...(namesLink(reach.args) && { late }),
    entityId: reach.entityId,
    accountId: undefined,
    idempotencyKey: key,
    appKey: key,
    isDryRun: false,
    limitWaitMs: 0,
  });
  return attemptOf(called);
}

/**
 * Returns the confirmation rules for the tool call that sends the question to the contact. Undefined if there are no rules, or if the
 * contact was put by a key (`putBy`) of another person than the one who caused the question.
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
  // By creating the contact, a person who did not cause the question has agreed to such messages.
  const isOther = putBy !== null && !(await isOfCauser(db, { ask, job: { principalChain } }, putBy));
  return isOther ? undefined : rules;
}

function attemptOf(called: CallReply): ReachAttempt {
  switch (called.outcome) {
    case "answered":
    case "held":
      return attemptOfAnswer(called.answer);
    case "in_progress":
      return { kind: "waiting", waitMs: inProgressPollMs };
    case "limited":
      return { kind: "waiting", waitMs: called.retryAfterMs };
    case "key_reused":
      // The contact was changed after svc had sent the first call to this contact. A repeated call would differ from the first one, so it
      // cannot use the same idempotency key. The ledger (record of calls) has the result of the first call.
      return { kind: "doubt", code: "outcome_unknown" };
    case "refused":
      // svc calls contacts without an access scope, so a refusal here is an error of svc.
      throw called.refusal;
    case "no_such_tool":
      return { kind: "failed", code: "tool_not_found", retryAfterMs: 0 };
    default:
      return assertExhaustive(called);
  }
}

function attemptOfAnswer({ result, callId }: CallAnswer): ReachAttempt {
  if (result.outcome === "ok") return { kind: "reached", callId: callId ?? "" };
  if (result.outcome === "outcome_unknown") return { kind: "doubt", code: result.outcome };
  // No person is asked to confirm a message to a contact. Another attempt would have the same result, so the failure is final.
  if (result.outcome === "held") return { kind: "failed", code: result.outcome, isFinal: true, retryAfterMs: 0 };
  return { kind: "failed", code: result.outcome, retryAfterMs: result.retryAfterMs ?? 0 };
}

type ReachEnd = {
  readonly job: LockedJobRow;
  readonly ask: AskRecord;
  readonly subject: ReachSubject;
  readonly reach: Reach;
  readonly attempt: Exclude<ReachAttempt, { kind: "waiting" }>;
  readonly nowMs: number;
};

async function conclude(tx: Executor, { job, ask, subject, reach, attempt, nowMs }: ReachEnd): Promise<void> {
  const { principalId, hopIndex, tries } = subject;
  const { toolSlug, entityId } = reach;
  const payloadStart = { via: "tool", principalId, toolSlug };
  const log = (type: string, payload: object) =>
    appendJobEvents(tx, job.id, [askEvent(type, ask, { ...payloadStart, ...payload }, job.principalChain)], nowMs);
  if (attempt.kind === "reached") {
    const toolCallId = attempt.callId;
    await recordAskContact(tx, ask.id, { principalId, hopIndex, toolSlug, entityId, toolCallId, deliveredAt: nowMs });
    await log("ask-delivery-changed", { from: "", to: "delivered", toolCallId });
    return;
  }
  const { code } = attempt;
  const waitMs = attempt.kind === "failed" && attempt.isFinal !== true ? retryWaitsMs[tries] : undefined;
  if (attempt.kind === "doubt") await log("call-in-doubt", { code });
  else if (waitMs === undefined) await log("ask-delivery-changed", { from: "", to: "failed", code });
  else {
    await log("call-retried", { code, attempt: tries + 1 });
    const again = subjectText({ ...subject, tries: tries + 1 });
    const dueAt = nowMs + Math.max(waitMs, attempt.kind === "failed" ? attempt.retryAfterMs : 0);
    await putJobTasks(tx, [{ jobId: job.id, projectId: job.projectId, kind: "reach", subject: again, dueAt }]);
  }
}

function callKey({ jobId, id }: AskRecord, { hopIndex, tries, principalId }: ReachSubject): string {
  return createHash("sha256")
    .update(JSON.stringify(["svc-ask", "reach", jobId, id, hopIndex, principalId, tries]))
    .digest("hex");
}

/**
 * Returns the address at which the contact answers the question. It is a link that needs no key, if a valid approver's key put the contact.
 * Otherwise it is the question's page in the console. Approvals always lead to the console.
 */
async function reachLink(
  { db, clock, consoleUrl }: AskContext,
  ask: AskRecord,
  { principalId, keyId, createdAt: contactCreatedAt }: Pick<Contact, "principalId" | "keyId" | "createdAt">,
): Promise<ReachLink> {
  const { projectId, jobId, id } = ask;
  if (consoleUrl === undefined) return { url: "(the console is off)", secrets: [] };
  const nowMs = clock.now();
  // Other questions than approvals get a link if a valid approver's key created the contact. A person gets none to confirm their own call.
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

/** True if the arguments of the tool call contain `{link}`, the placeholder for the address at which a contact answers. */
function namesLink(args: ReachArguments): boolean {
  return JSON.stringify(args).includes("{link}");
}
