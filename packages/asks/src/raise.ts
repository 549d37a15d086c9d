import { createId, type Id, idOfUuid, type ProjectId, storableText, uuidOfId } from "@svc/core";
import { insertAsk, type NewAsk } from "@svc/db/asks/repo";
import type { Executor } from "@svc/db/connect";
import { contactsForProject } from "@svc/db/contacts/repo";
import type { NewJobTask } from "@svc/db/job-tasks/task";
import { askEndpointsForProject } from "@svc/db/subscriptions/ask-endpoints";
import { askEvent } from "./ask-event.ts";
import { subjectText, type TaskSubject, type WatchSubject } from "./task-subject.ts";
import type { AskInput, PreparedAsk } from "./types.ts";

/**
 * Prepares a question, so that it can be stored in the transaction that parks the job (stores it as waiting). A question with an escalation
 * goes to the contact (person) of the first hop (stage). Approvals and svc's own questions have no escalation. They go to all contacts in
 * `approvers`. If `approvers` is empty, they go to every approver of the project.
 */
export async function prepareAsk(db: Executor, input: AskInput): Promise<PreparedAsk> {
  const ask = askOf(input, await addresseesOf(db, input));
  const tasks = await tasksOfHop(db, { ...ask, addressed: ask.deliveredPrincipals, nowMs: input.nowMs });
  const timeoutSeconds = ask.deadlineAt === null ? undefined : ask.escalation[0]?.timeoutSeconds;
  const payload = {
    kind: ask.kind,
    principalId: ask.principalId,
    hopIndex: 0,
    addressed: ask.deliveredPrincipals.length,
    continuations: ask.continuations,
    ...(ask.approvalId !== "" && { approvalId: ask.approvalId }),
    ...(timeoutSeconds !== undefined && { timeoutSeconds }),
  };
  return {
    id: ask.id,
    approvalId: ask.approvalId,
    events: [askEvent("ask-raised", ask, payload, input.principalChain)],
    tasks,
    write: (tx) => insertAsk(tx, ask),
  };
}

async function addresseesOf(db: Executor, { projectId, escalation, approvers }: AskInput): Promise<readonly string[]> {
  const [first] = escalation;
  if (first !== undefined) return [first.principal];
  if (approvers.length > 0) return [...new Set(approvers)];
  const contacts = await contactsForProject(db, projectId).listApprovers();
  return contacts.map(({ principalId }) => principalId);
}

function askOf(input: AskInput, addressees: readonly string[]): NewAsk {
  const { nowMs, escalation, approvers } = input;
  const id = createId("ask", nowMs);
  const timeoutMs = escalation[0]?.timeoutMs;
  const ladder =
    escalation.length > 0 ? escalation : approvers.map((principal) => ({ principal, timeoutMs: undefined }));
  return {
    id,
    projectId: input.projectId,
    jobId: input.jobId,
    stepId: input.stepId,
    pointId: input.pointId,
    kind: input.kind,
    // The database cannot store U+0000, and a published body must be valid UTF-8.
    question: storableText(input.question),
    continuations: [...input.continuations],
    answerSchema: input.answerSchemaJson,
    escalation: ladder.map((hop) => ({
      principalId: hop.principal,
      timeoutSeconds: Math.ceil((hop.timeoutMs ?? 0) / 1000),
    })),
    // A question without an escalation has no default answer.
    defaultContinuation: escalation.length > 0 ? (input.defaultContinuation ?? "") : "",
    counts: input.counts ?? null,
    hopIndex: 0,
    principalId: addressees[0] ?? "",
    deliveredPrincipals: [...addressees],
    deadlineAt: timeoutMs === undefined ? null : nowMs + Math.ceil(timeoutMs / 1000) * 1000,
    approvalId: input.kind === "approval" ? idOfUuid("apr", uuidOfId(id)) : "",
    keyId: input.keyId,
    standingProgramId: input.standingProgramId,
    askedAt: nowMs,
  };
}

/** An ask (a question of a job to a person) that has reached a hop (stage of the escalation), and the contacts (people) of this hop. */
export type HopReached = {
  readonly id: Id<"ask">;
  readonly jobId: Id<"job">;
  readonly projectId: ProjectId;
  readonly hopIndex: number;
  readonly addressed: readonly string[];
  readonly deadlineAt: number | null;
  readonly nowMs: number;
};

/**
 * Returns the tasks for one hop (stage of the escalation) of a question. If the hop has a deadline, one task ends the hop then. For each
 * contact that has a contact channel, a task of its own sends the question there. If the project has an endpoint for questions, one more
 * task sends the question to it.
 */
export async function tasksOfHop(db: Executor, hop: HopReached): Promise<NewJobTask[]> {
  const { id: askId, jobId, projectId, hopIndex, deadlineAt, nowMs } = hop;
  const contacts = await contactsForProject(db, projectId).findMany(hop.addressed);
  const endpoints = await askEndpointsForProject(db, projectId).listActive("ask_raised");
  const subjects: { readonly subject: Exclude<TaskSubject, WatchSubject>; readonly dueAt: number }[] = [];
  if (deadlineAt !== null) subjects.push({ subject: { kind: "hop", askId, hopIndex }, dueAt: deadlineAt });
  if (endpoints.length > 0) subjects.push({ subject: { kind: "publish", askId, hopIndex }, dueAt: nowMs });
  for (const { principalId, reach } of contacts) {
    if (reach === null) continue;
    subjects.push({ subject: { kind: "reach", askId, hopIndex, tries: 0, principalId }, dueAt: nowMs });
  }
  return subjects.map(({ subject, dueAt }) => {
    return { jobId, projectId, kind: subject.kind, subject: subjectText(subject), dueAt };
  });
}
