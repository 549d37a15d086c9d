import { create, toJsonString } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { AskRecord } from "@svc/db/asks/repo";
import type { DecisionDocument } from "@svc/db/documents/programs";
import {
  type Ask,
  type AskDecision,
  AskDecisionSchema,
  AskHopSpecSchema,
  AskSchema,
  AskState,
  type Receipt,
} from "@svc/gen/jobs";
import type { AskDelivery } from "./delivery-state.ts";

const states = {
  pending: AskState.PENDING,
  answered: AskState.ANSWERED,
  defaulted: AskState.DEFAULTED,
  withdrawn: AskState.WITHDRAWN,
} as const satisfies Readonly<Record<AskRecord["state"], AskState>>;

/**
 * Returns the stored ask state (for example `pending`) that corresponds to the API's filter value for lists of asks. Returns undefined for
 * the value that includes asks in every state.
 */
export function stateOfFilter(state: AskState): AskRecord["state"] | undefined {
  return (Object.keys(states) as AskRecord["state"][]).find((name) => states[name] === state);
}

/** Values that the API message of an ask (a question to a person) contains, but the ask's own database row does not. */
export type AskSurroundings = {
  readonly delivery: AskDelivery;
  /** The receipt (stored summary) of the simulation run that the person sees before approving. Set only for the approval of a plan. */
  readonly simulationReceipt?: Receipt | undefined;
};

/**
 * Returns an ask (a question of a job to a person) in the form of the API. It is the form that ListAsks and GetAsk return, and that svc
 * sends to endpoints.
 */
export function askMessage(ask: AskRecord, { delivery, simulationReceipt }: AskSurroundings): Ask {
  const { decision } = ask;
  return create(AskSchema, {
    ...pendingAskMessage(ask),
    jobId: ask.jobId,
    requestId: ask.id,
    state: states[ask.state],
    question: ask.question,
    answerSchemaJson: ask.answerSchema,
    continuations: ask.continuations,
    defaultContinuation: ask.defaultContinuation,
    escalation: ask.escalation.map((hop) => create(AskHopSpecSchema, hop)),
    askedAt: timestampFromMs(ask.askedAt),
    stepId: ask.stepId,
    delivery,
    ...(decision && { decision: decisionMessage(decision) }),
    ...(simulationReceipt && { simulationReceipt }),
  });
}

/**
 * Returns the pending ask (question to a person) of a job, as a part of the API message of the job. The ask has no question text here,
 * because the job's field `park.judgment` has it. Fields that only ListAsks and GetAsk return are also not set.
 */
export function pendingAskMessage(ask: AskRecord): Ask {
  return create(AskSchema, {
    pointId: ask.pointId,
    principalId: ask.principalId,
    hopIndex: ask.hopIndex,
    deliveredPrincipals: ask.deliveredPrincipals,
    toolSlug: ask.toolSlug,
    entityId: ask.entityId,
    toolCallId: ask.toolCallId,
    approvalId: ask.approvalId,
    standingProgramId: ask.standingProgramId,
    exhausted: ask.exhausted,
    ...(ask.deliveredAt !== null && { deliveredAt: timestampFromMs(ask.deliveredAt) }),
    ...(ask.deadlineAt !== null && { deadlineAt: timestampFromMs(ask.deadlineAt) }),
  });
}

/**
 * Returns a person's decision as a message of the API. The message is used in asks (questions to people) and in receipts (stored summaries
 * of finished jobs).
 */
export function decisionMessage(decision: DecisionDocument): AskDecision {
  const { continuation, principalId, keyId, surface, note, overridesJson, at, linkId } = decision;
  const shown = { continuation, principalId, keyId, surface, note, overridesJson, ...(linkId && { linkId }) };
  return create(AskDecisionSchema, { ...shown, at: timestampFromMs(at) });
}

/**
 * Returns the JSON body that svc sends to endpoints for an ask (a question of a job to a person). The body does not contain the event's id
 * and type.
 */
export function publicationOf(ask: AskRecord): string {
  const text = toJsonString(AskSchema, askMessage(ask, { delivery: "pending" }), { alwaysEmitImplicit: true });
  return `{"jobId":"${ask.jobId}","ask":${text}}`;
}
