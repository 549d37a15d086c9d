import { createTenantValidators } from "@svc/catalog";
import { type Fault, isObject, type KeyId, parseId, type Role, readJsonObject, storableText } from "@svc/core";
import { type AskRecord, findAsk, findPendingAsk, listJobAsks } from "@svc/db/asks/repo";
import { countRefusedAnswer, countStrayAnswer, type LockedJobRow, lockJobOfAsk } from "@svc/db/asks/settle";
import { type Executor, withTransaction } from "@svc/db/connect";
import { type Contact, contactsForProject } from "@svc/db/contacts/repo";
import { deliveriesForProject } from "@svc/db/deliveries/repo";
import type { DecisionDocument } from "@svc/db/documents/programs";
import { appendJobEvents } from "@svc/db/jobs/log";
import type { AskContinuation } from "@svc/db/schema/words";
import { mask } from "@svc/tools";
import { askEvent } from "./ask-event.ts";
import type { AskContext } from "./context.ts";
import { askFaults } from "./errors.ts";
import { type AskObservation, observationOf } from "./observer.ts";
import { isStorable, readJson, sealOverrides, unstorable } from "./read-json.ts";
import { settle } from "./settle.ts";
import { isOwnConfirmation } from "./task-subject.ts";
import type { AnswerRequest } from "./types.ts";

/** A refused answer to an ask (a question to a person), with the data for the entry that will be written to the job's log. */
type RefusalRecord = {
  readonly refusal: Fault;
  /** The ask (a question to a person) that the refused answer was for. Undefined if the ask is not known. */
  readonly ask: AskRecord | undefined;
  readonly job: LockedJobRow;
  readonly request: AnswerRequest;
  readonly nowMs: number;
};

/**
 * Number of refused answers to one ask (a question to a person) that get a log entry each. After that, log entries are rarer, and each
 * entry states the number of refusals.
 */
const loggedMax = 100;
const excerptMax = 100;

/**
 * Adds a refused answer to the stored count of refusals, under the job's lock. Writes a log entry if `isLogged` returns true for the count.
 * If the answer contains no ask id, it counts for the job's pending ask (a question to a person), or else for its last ask.
 */
async function recordRefusal(tx: Executor, record: RefusalRecord): Promise<void> {
  const { job, request, nowMs } = record;
  const ask = record.ask ?? (await findPendingAsk(tx, job.id)) ?? (await listJobAsks(tx, job.id)).at(-1);
  const count = await (ask === undefined ? countStrayAnswer(tx, job.id) : countRefusedAnswer(tx, ask.id));
  if (!isLogged(count)) return;
  const payload = {
    reason: record.refusal.details[0]?.reason ?? "",
    // The values are logged as the caller sent them, but shortened, so that readers of the log can see what the caller tried.
    principalId: excerpt(request.principalId),
    continuation: excerpt(request.continuation),
    ...(request.requestId !== "" && { named: excerpt(request.requestId) }),
    ...(count > loggedMax && { counted: count }),
  };
  const chain = [`key:${request.keyId}`];
  const event =
    ask === undefined
      ? { type: "answer-refused", stepId: "", payload: JSON.stringify(payload), principalChain: chain }
      : askEvent("answer-refused", ask, payload, chain);
  await appendJobEvents(tx, job.id, [event], nowMs);
}

/**
 * True if the job's log gets an entry for this refusal of an answer. `count`: number of refused answers to the question so far. Each of the
 * first `loggedMax` refusals gets an entry. After that, a refusal gets one only if `count` is `loggedMax` times 2, 4, 8 and so on.
 */
function isLogged(count: number): boolean {
  return count <= loggedMax || Number.isInteger(Math.log2(count / loggedMax));
}

function excerpt(text: string): string {
  return storableText(text.slice(0, excerptMax));
}

/**
 * The error for a refused answer, and the ask (a question to a person) that the answer was for. `ask` is undefined if the ask was not
 * found.
 */
type RefusedAnswer = { readonly refusal: Fault; readonly ask: AskRecord | undefined };

const noteCharactersMax = 2_000;

/**
 * Stores the answer to the pending question of a job. If the answer is refused, throws the first error that applies, in the order in the
 * documentation of AnswerAsk. A refused answer changes nothing, but is written to the job's log if the job exists. The job's row is locked,
 * so concurrent answers wait for each other.
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
  job: LockedJobRow,
  request: AnswerRequest,
): Promise<RefusedAnswer | { readonly settled: AskObservation }> {
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

/**
 * Returns the pending ask (a question to a person) whose id the answer contains. If the answer contains no id, returns the job's pending
 * ask. If no such ask is pending, returns the refusal of the answer.
 */
async function findNamed(
  tx: Executor,
  { jobId, requestId }: AnswerRequest,
): Promise<{ ask: AskRecord } | RefusedAnswer> {
  if (requestId === "") {
    const ask = await findPendingAsk(tx, jobId);
    return ask === undefined ? { refusal: askFaults.ASK_SETTLED(requestId), ask } : { ask };
  }
  const id = parseId("ask", requestId);
  const ask = id && (await findAsk(tx, jobId, id));
  if (ask === undefined || ask.state === "withdrawn") return { refusal: askFaults.ASK_STALE(requestId), ask };
  return ask.state === "pending" ? { ask } : { refusal: askFaults.ASK_SETTLED(requestId), ask };
}

/**
 * Returns the continuation (the way in which the job continues) that the person's answer chooses. If the ask (the question) does not allow
 * the answer, returns the first error, in the order that AnswerAsk documents.
 */
async function checkAnswer(
  tx: Executor,
  { job, ask }: { readonly job: LockedJobRow; readonly ask: AskRecord },
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

/**
 * Returns the source of an answer, which is stored with the decision. If the answer came in response to a webhook delivery of this
 * question, the source is the delivery's id. If the answer has no delivery id, or the id of a delivery that did not send this question, the
 * source is `api`. A wrong delivery id does not make the answer invalid.
 */
async function surfaceOf(tx: Executor, ask: AskRecord, { projectId, deliveryId }: AnswerRequest): Promise<string> {
  const id = parseId("dlv", deliveryId);
  const delivery = id && (await deliveriesForProject(tx, projectId).find(id));
  return delivery !== undefined && ask.eventIds.includes(delivery.eventId) ? delivery.id : "api";
}

/** The key that sends an answer to an approval, and the contact in whose name it answers. */
type Decider = {
  readonly keyId: KeyId;
  readonly role: Role;
  readonly principalId: string;
  /** The contact as stored now. Undefined if the contact no longer exists. */
  readonly contact: Pick<Contact, "isApprover"> | undefined;
};

/**
 * Returns true if the answer may decide an approval, and otherwise the error. The key that sends the answer must have the role approver. It
 * must also be the key that submitted the plan, because a plan is approved by the key that wants to run it. The contact in whose name the
 * key answers must be marked as an approver.
 */
function mayDecide(ask: Pick<AskRecord, "keyId">, decider: Decider): true | Fault {
  if (decider.role !== "approver") return askFaults.APPROVER_ROLE_REQUIRED();
  if (decider.keyId !== ask.keyId) return askFaults.APPROVAL_KEY_MISMATCH(decider.keyId);
  if (decider.contact?.isApprover !== true) return askFaults.PRINCIPAL_NOT_APPROVER(decider.principalId);
  return true;
}

/**
 * The values that decide if an answer to a question may change params or arguments (overrides). They are the answer schema of the judgment
 * point (the step that asks a person), and the continuation (one of the allowed answers) that the person chose.
 */
type OverridesRule = { readonly answerSchemaJson: string; readonly continuation: string };

/**
 * Returns what is wrong with the overrides of an answer, as the end of a sentence; undefined if they are valid. Overrides are values that a
 * person sends with the answer `retry-with`.
 */
function faultOfOverrides(
  overridesJson: string,
  { answerSchemaJson, continuation }: OverridesRule,
): string | undefined {
  if (overridesJson === "") return undefined;
  const read = readJson(overridesJson);
  if (read === undefined) return "is not JSON, or repeats a name in an object";
  const { value } = read;
  if (continuation !== "retry-with") return `comes with ${continuation}, which takes no overrides`;
  if (answerSchemaJson === "") return "is given, but the point takes no overrides";
  if (!isObject(value)) return "is not an object";
  if (!isStorable(value)) return unstorable;
  const [fault] = createTenantValidators()(readJsonObject(answerSchemaJson, "the answer schema of a point"))(value);
  return fault && `breaks the point's answer schema: ${fault.pointer === "" ? "it" : fault.pointer} ${fault.message}`;
}

/**
 * Returns an answer's new values (overrides) in the form that logs and callers see: `***` replaces each field that the question's answer
 * schema marks as sensitive. If there is no such field, returns the text unchanged. Call this function only after `faultOfOverrides` has
 * found no problem in the values.
 */
function shownOverrides(ask: Pick<AskRecord, "answerSchema">, overridesJson: string): string {
  if (overridesJson === "" || ask.answerSchema === "") return overridesJson;
  const values = readJsonObject(overridesJson, "the overrides of an answer");
  const shown = mask(readJsonObject(ask.answerSchema, "the answer schema of a point"), values);
  const text = JSON.stringify(shown);
  return text === JSON.stringify(values) ? overridesJson : text;
}
