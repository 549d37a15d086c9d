import type { ConnectError } from "@connectrpc/connect";
import { type Id, type KeyId, type ProjectId, parseId, type Role } from "@svc/core";
import {
  type AskRecord,
  contactsForProject,
  deliveriesForProject,
  type Executor,
  findAsk,
  findPendingAsk,
  type LockedJob,
  lockJobOfAsk,
  withTransaction,
} from "@svc/db";
import type { Continuation } from "../program/program.ts";
import { faultOfOverrides } from "./check-overrides.ts";
import type { AskContext } from "./context.ts";
import {
  askSettled,
  askStale,
  continuationNotDeclared,
  jobNotFound,
  noteTooLong,
  overridesInvalid,
  principalNotReached,
} from "./errors.ts";
import { mayDecide } from "./may-decide.ts";
import { recordRefusal } from "./refusal.ts";
import { settle } from "./settle.ts";

/** An answer as it is presented, by a key. Texts are as they came. */
export type AnswerRequest = {
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  readonly role: Role;
  readonly jobId: Id<"job">;
  readonly requestId: string;
  readonly principalId: string;
  readonly continuation: string;
  readonly overridesJson: string;
  readonly note: string;
  readonly deliveryId: string;
};

/** A refused answer, with the ask it was for as far as one is known. */
type Refused = { readonly refusal: ConnectError; readonly ask: AskRecord | undefined };

const noteCharactersMax = 2_000;

/**
 * Settles the pending ask of a job with an answer, or throws the first of the refusals of AnswerAsk, in its order. A refusal that
 * knows the job is on its log by then, and has moved nothing else. The job's lock makes answers to it wait for each other.
 */
export async function answerAsk(context: AskContext, request: AnswerRequest): Promise<void> {
  const refusal = await withTransaction(context.db, async (tx) => {
    const job = await lockJobOfAsk(tx, request.jobId);
    if (job === undefined || job.projectId !== request.projectId) throw jobNotFound("jobId", request.jobId);
    const refused = await trySettle(context, tx, job, request);
    if (refused === undefined) return undefined;
    await recordRefusal(tx, { ...refused, job, request, nowMs: context.clock.now() });
    return refused.refusal;
  });
  context.onLogged(request.jobId);
  if (refusal !== undefined) throw refusal;
  context.onDue();
}

async function trySettle(
  context: AskContext,
  tx: Executor,
  job: LockedJob,
  request: AnswerRequest,
): Promise<Refused | undefined> {
  const named = await findNamed(tx, request);
  if ("refusal" in named) return named;
  const { ask } = named;
  const refusal = await refusalOf(tx, ask, request);
  if (refusal !== undefined) return { refusal, ask };
  const decision = {
    continuation: request.continuation as Continuation,
    principalId: request.principalId,
    keyId: request.keyId,
    surface: await surfaceOf(tx, ask, request),
    // The store keeps no U+0000 in a document.
    note: request.note.replaceAll("\0", "\u{fffd}").toWellFormed(),
    overridesJson: request.overridesJson,
    at: context.clock.now(),
  };
  const isSettled = await settle(context, tx, { job, ask, decision });
  return isSettled ? undefined : { refusal: askSettled(request.requestId), ask };
}

/** The pending ask that the answer is for: the one it names, or else the job's. */
async function findNamed(tx: Executor, { jobId, requestId }: AnswerRequest): Promise<{ ask: AskRecord } | Refused> {
  if (requestId === "") {
    const ask = await findPendingAsk(tx, jobId);
    return ask === undefined ? { refusal: askSettled(requestId), ask } : { ask };
  }
  const id = parseId("ask", requestId);
  const ask = id && (await findAsk(tx, jobId, id));
  if (ask === undefined || ask.state === "withdrawn") return { refusal: askStale(requestId), ask };
  return ask.state === "pending" ? { ask } : { refusal: askSettled(requestId), ask };
}

/** Why an answer does not fit the ask; in the order of the contract. */
async function refusalOf(tx: Executor, ask: AskRecord, request: AnswerRequest): Promise<ConnectError | undefined> {
  const { principalId, continuation, overridesJson, note, projectId } = request;
  if (!ask.deliveredPrincipals.includes(principalId)) return principalNotReached(principalId);
  if (!ask.continuations.includes(continuation)) return continuationNotDeclared(continuation, ask.continuations);
  const fault = faultOfOverrides(overridesJson, { answerSchemaJson: ask.answerSchema, continuation });
  if (fault !== undefined) return overridesInvalid(fault);
  const length = [...note].length;
  if (length > noteCharactersMax) return noteTooLong(length, noteCharactersMax);
  if (ask.approvalId === "") return undefined;
  const contact = await contactsForProject(tx, projectId).find(principalId);
  const verdict = mayDecide(ask, { ...request, contact });
  return verdict === true ? undefined : verdict;
}

/** The delivery the answer came back on, if it is one of this ask's: whatever else is named refuses nothing and proves nothing. */
async function surfaceOf(tx: Executor, ask: AskRecord, { projectId, deliveryId }: AnswerRequest): Promise<string> {
  const id = parseId("dlv", deliveryId);
  const delivery = id && (await deliveriesForProject(tx, projectId).find(id));
  return delivery !== undefined && ask.eventIds.includes(delivery.eventId) ? delivery.id : "api";
}
