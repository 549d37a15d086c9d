import { coreFaults, isoTime, type JsonObject, type ProjectPrincipal, parseId, type Role } from "@svc/core";
import { type AskRecord, findAsk, findPendingAsk } from "@svc/db/asks/repo";
import { type ConsoleLink, makeConsoleLink } from "@svc/db/console/links";
import { contactsForProject } from "@svc/db/contacts/repo";
import { jobsForProject } from "@svc/db/jobs/repo";
import { answerAsk } from "./answer.ts";
import type { AskContext } from "./context.ts";
import { askFaults } from "./errors.ts";
import { isOwnConfirmation } from "./task-subject.ts";
import type { AnswerRequest } from "./types.ts";

/** Lifetime of an answer link, in milliseconds. */
export const answerLinkLifeMs: number = 30 * 86_400_000;

/** Maximum difference between the clocks of two nodes that svc allows for, in milliseconds. */
const clocksApartMs = 2_000;

/**
 * Describes a new answer link, with which a contact answers one ask (a question to a person). `requestId`: id of the ask; if empty, the
 * job's pending ask is used. `expiresAt`: expiry time of the link in epoch milliseconds.
 */
export type NewAnswerLink = Pick<AnswerRequest, "jobId" | "requestId" | "principalId"> & {
  readonly expiresAt: number;
};

/** An answer to a question of a job, given through an answer link (a link that lets a person answer without an API key). */
export type LinkedAnswer = Pick<AnswerRequest, "continuation" | "overridesJson" | "note">;

/** An answer link that was found in the database and has not expired, and the role of the key that created the link. */
export type OpenedLink = { readonly link: ConsoleLink; readonly role: Role };

/** Functions for answer links. Through such a link, a contact without an API key answers an ask. */
export type AnswerLinks = {
  /** Creates an answer link and returns its address. Rejects with the errors of the API call CreateAnswerLink. */
  create(principal: ProjectPrincipal, request: NewAnswerLink): Promise<{ readonly url: string }>;
  /**
   * Returns the content of the page that an answer link opens. Returns undefined if the question or its contact (the person who was asked)
   * no longer exists. Writes nothing to the database.
   */
  show(link: ConsoleLink): Promise<JsonObject | undefined>;
  /**
   * Settles the ask (a question to a person) that the link was made for, with the contact's answer. Has the same effect and the same errors
   * as the API call AnswerAsk. Returns false if the ask or the contact no longer exists.
   */
  answer(opened: OpenedLink, answer: LinkedAnswer): Promise<boolean>;
};

/** Returns the functions that create, show and answer links. */
export function createAnswerLinks(context: AskContext): AnswerLinks {
  const { db, clock, consoleUrl } = context;
  return {
    async create({ projectId, keyId }, { expiresAt, ...request }) {
      if (consoleUrl === undefined) throw coreFaults.CONSOLE_OFF();
      const job = await jobsForProject(db, projectId).find(request.jobId);
      if (job === undefined) throw askFaults.JOB_NOT_FOUND("jobId", request.jobId);
      const ask = await linkableAsk(context, request);
      if (await isOwnConfirmation(db, { ask, job }, keyId)) throw askFaults.CONFIRM_BY_CALLER();
      const { jobId, principalId } = request;
      const contact = await contactsForProject(db, projectId).find(principalId);
      if (contact === undefined) throw askFaults.PRINCIPAL_NOT_REACHED(principalId);
      const { token } = await makeConsoleLink(db, {
        ...{ purpose: "answer", projectId, keyId, expiresAt, nowMs: clock.now() },
        target: { answer: { jobId, requestId: ask.id, principalId, contactCreatedAt: contact.createdAt } },
      });
      return { url: `${consoleUrl()}answer#${token}` };
    },
    async show(link) {
      const found = await findLinked(context, link);
      return found && shownAsk(found.ask, found.contactName, link);
    },
    async answer({ link, role }, answer) {
      const found = await findLinked(context, link);
      if (found === undefined) return false;
      const { ask, principalId } = found;
      if (ask.approvalId !== "") throw askFaults.APPROVAL_NOT_LINKABLE(ask.id);
      const { projectId, keyId, id: linkId } = link;
      const of = { projectId, keyId, role, linkId, jobId: ask.jobId, requestId: ask.id, principalId };
      await answerAsk(context, { ...of, ...answer, deliveryId: "" });
      return true;
    },
  };
}

async function linkableAsk({ db }: AskContext, request: Omit<NewAnswerLink, "expiresAt">): Promise<AskRecord> {
  const { jobId, requestId, principalId } = request;
  const id = parseId("ask", requestId);
  const ask = requestId === "" ? await findPendingAsk(db, jobId) : id && (await findAsk(db, jobId, id));
  if (ask === undefined || ask.state === "withdrawn")
    throw requestId === "" ? askFaults.ASK_SETTLED(requestId) : askFaults.ASK_STALE(requestId);
  if (ask.state !== "pending") throw askFaults.ASK_SETTLED(requestId);
  if (ask.approvalId !== "") throw askFaults.APPROVAL_NOT_LINKABLE(ask.id);
  if (!ask.deliveredPrincipals.includes(principalId)) throw askFaults.PRINCIPAL_NOT_REACHED(principalId);
  return ask;
}

async function findLinked({ db, sealer }: AskContext, { target: { answer }, projectId, createdAt }: ConsoleLink) {
  const jobId = answer && parseId("job", answer.jobId);
  const id = answer && parseId("ask", answer.requestId);
  if (answer === undefined || jobId === undefined || id === undefined) return undefined;
  await sealer.ready([projectId]);
  const [ask, contact] = await Promise.all([
    findAsk(db, jobId, id),
    contactsForProject(db, projectId).find(answer.principalId),
  ]);
  if (ask?.projectId !== projectId || contact === undefined) return undefined;
  // True if the contact is the one for whom the link was created. False if that contact was deleted and a new contact now has the same id.
  const isSame =
    answer.contactCreatedAt === undefined
      ? contact.createdAt <= createdAt + clocksApartMs
      : contact.createdAt === answer.contactCreatedAt;
  if (!isSame) return undefined;
  return { ask, principalId: answer.principalId, contactName: contact.name };
}

/**
 * Returns what an answer link's page shows: for a pending ask, the question and the allowed answers. For a settled ask, only the given
 * answer and the contact who gave it.
 */
function shownAsk(ask: AskRecord, contactName: string, { target, expiresAt }: ConsoleLink): JsonObject {
  const { state, decision } = ask;
  const principalId = target.answer?.principalId ?? "";
  const confirms = ask.kind === "confirm";
  if (state !== "pending") {
    const settled = decision && {
      continuation: decision.continuation,
      principalId: decision.principalId,
      at: isoTime(decision.at),
    };
    return { state, principalId, contactName, confirms, ...(settled && { decision: settled }) };
  }
  return {
    ...{ state, principalId, contactName, question: ask.question, confirms, continuations: [...ask.continuations] },
    answerSchemaJson: ask.answerSchema,
    defaultContinuation: ask.defaultContinuation,
    deadlineAt: ask.deadlineAt === null ? "" : isoTime(ask.deadlineAt),
    expiresAt: isoTime(expiresAt),
  };
}
