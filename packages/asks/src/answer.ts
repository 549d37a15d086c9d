import { type Fault, parseId, storableText } from "@svc/core";
import { type LockedJob, lockJobOfAsk } from "@svc/db/asks/lock-job";
import { type AskRecord, findAsk, findPendingAsk } from "@svc/db/asks/repo";
import { type Executor, withTransaction } from "@svc/db/connect";
import { contactsForProject } from "@svc/db/contacts/repo";
import { deliveriesForProject } from "@svc/db/deliveries/repo";
import type { DecisionDocument } from "@svc/db/documents/decision";
import type { AskContinuation } from "@svc/db/schema/words";
import { isOwnConfirmation } from "./by-caller.ts";
import { faultOfOverrides } from "./check-overrides.ts";
import type { AskContext } from "./context.ts";
import { askFaults } from "./errors.ts";
import { mayDecide } from "./may-decide.ts";
import { type AskObservation, observationOf } from "./observer.ts";
import { recordRefusal } from "./refusal.ts";
import { settle } from "./settle.ts";
import { sealOverrides, shownOverrides } from "./shown-overrides.ts";
import type { AnswerRequest } from "./types.ts";

/** A refused answer, with the ask it was for as far as one is known. */
type Refused = { readonly refusal: Fault; readonly ask: AskRecord | undefined };

const noteCharactersMax = 2_000;

/**
 * Settles the pending ask of a job with an answer, or throws the first of the refusals of AnswerAsk, in its order. A refusal that
 * knows the job is on its log by then, and has moved nothing else. The job's lock makes answers to it wait for each other.
 */
export async function answerAsk(context: AskContext, request: AnswerRequest): Promise<void> {
  const outcome = await withTransaction(context.db, async (tx) => {
    const job = await lockJobOfAsk(tx, request.jobId);
    if (job === undefined || job.projectId !== request.projectId) throw askFaults.JOB_NOT_FOUND("jobId", request.jobId);
    const tried = await trySettle(context, tx, job, request);
    if ("refusal" in tried) await recordRefusal(tx, { ...tried, job, request, nowMs: context.clock.now() });
    return tried;
  });
  context.onLogged(request.jobId);
  if ("refusal" in outcome) throw outcome.refusal;
  context.observer?.settled(outcome.settled);
  context.onDue();
}

async function trySettle(
  context: AskContext,
  tx: Executor,
  job: LockedJob,
  request: AnswerRequest,
): Promise<Refused | { readonly settled: AskObservation }> {
  const named = await findNamed(tx, request);
  if ("refusal" in named) return named;
  const { ask } = named;
  const checked = await checkAnswer(tx, { job, ask }, request);
  if ("refusal" in checked) return { ...checked, ask };
  const overridesJson = shownOverrides(ask, request.overridesJson);
  const isMasked = overridesJson !== request.overridesJson;
  const overrides = isMasked ? sealOverrides(context.sealer, ask, request.overridesJson) : undefined;
  const decision: DecisionDocument = {
    ...checked,
    principalId: request.principalId,
    keyId: request.keyId,
    surface: await surfaceOf(tx, ask, request),
    note: storableText(request.note),
    overridesJson,
    at: context.clock.now(),
    ...(request.linkId !== undefined && { linkId: request.linkId }),
  };
  const isSettled = await settle(context, tx, { job, ask, decision, overrides });
  return isSettled
    ? { settled: observationOf(ask, decision) }
    : { refusal: askFaults.ASK_SETTLED(request.requestId), ask };
}

/** The pending ask that the answer is for: the one it names, or else the job's. */
async function findNamed(tx: Executor, { jobId, requestId }: AnswerRequest): Promise<{ ask: AskRecord } | Refused> {
  if (requestId === "") {
    const ask = await findPendingAsk(tx, jobId);
    return ask === undefined ? { refusal: askFaults.ASK_SETTLED(requestId), ask } : { ask };
  }
  const id = parseId("ask", requestId);
  const ask = id && (await findAsk(tx, jobId, id));
  if (ask === undefined || ask.state === "withdrawn") return { refusal: askFaults.ASK_STALE(requestId), ask };
  return ask.state === "pending" ? { ask } : { refusal: askFaults.ASK_SETTLED(requestId), ask };
}

/** The continuation that an answer picks, or why it does not fit the ask; in the order of the contract. */
async function checkAnswer(
  tx: Executor,
  { job, ask }: { readonly job: LockedJob; readonly ask: AskRecord },
  request: AnswerRequest,
): Promise<{ continuation: AskContinuation } | { refusal: Fault }> {
  const { principalId, overridesJson, note, projectId } = request;
  if (!ask.deliveredPrincipals.includes(principalId)) return { refusal: askFaults.PRINCIPAL_NOT_REACHED(principalId) };
  const continuation = ask.continuations.find((declared) => declared === request.continuation);
  if (continuation === undefined) {
    return { refusal: askFaults.CONTINUATION_NOT_DECLARED(request.continuation, ask.continuations) };
  }
  const fault = faultOfOverrides(overridesJson, { answerSchemaJson: ask.answerSchema, continuation });
  if (fault !== undefined) return { refusal: askFaults.OVERRIDES_INVALID(fault) };
  const length = [...note].length;
  if (length > noteCharactersMax) return { refusal: askFaults.NOTE_TOO_LONG(length, noteCharactersMax) };
  if (await isOwnConfirmation(tx, { ask, job }, request.keyId)) return { refusal: askFaults.CONFIRM_BY_CALLER() };
  if (ask.approvalId === "") return { continuation };
  const contact = await contactsForProject(tx, projectId).find(principalId);
  const verdict = mayDecide(ask, { ...request, contact });
  return verdict === true ? { continuation } : { refusal: verdict };
}

/** The delivery the answer came back on, if it is one of this ask's: whatever else is named refuses nothing and proves nothing. */
async function surfaceOf(tx: Executor, ask: AskRecord, { projectId, deliveryId }: AnswerRequest): Promise<string> {
  const id = parseId("dlv", deliveryId);
  const delivery = id && (await deliveriesForProject(tx, projectId).find(id));
  return delivery !== undefined && ask.eventIds.includes(delivery.eventId) ? delivery.id : "api";
}
