import type { Contact } from "@svc/gen/contacts";
import type { Ask, Job } from "@svc/gen/jobs";
import type { Seat } from "../../session/session.ts";
import { isConfirmation } from "../../words/continuations.ts";

/** Result of the check if a key may answer a question. `ok`: true if it may; otherwise the buttons are disabled. `says`: the reason. */
export type AnswerVerdict = { ok: boolean; says: string };

/**
 * Returns the id of the key that submitted the plan which waits for approval: the key that started the job's latest attempt, or the key
 * that submitted the job if it has had only one attempt.
 */
export function planKeyOf({ submittedByKeyId, attempts }: Pick<Job, "submittedByKeyId" | "attempts">): string {
  return attempts.at(-1)?.retryKeyId ?? submittedByKeyId;
}

/** Checks if the signed-in key may answer the question for this contact. Returns the result with a sentence that gives the reason. */
export function mayAnswer(
  ask: Pick<Ask, "approvalId" | "pointId" | "stepId">,
  job: Pick<Job, "submittedByKeyId" | "attempts"> | undefined,
  seat: Pick<Seat, "keyId" | "keyName" | "role">,
  contact: Pick<Contact, "principalId" | "approver"> | undefined,
): AnswerVerdict {
  const as = contact?.principalId ?? "a contact";
  const vouches = `Answering as ${as}, using “${seat.keyName || seat.keyId}”.`;
  const isOwnCall = isConfirmation(ask) && job !== undefined && planKeyOf(job) === seat.keyId;
  if (isOwnCall) {
    return { ok: false, says: "Your key created this call, so another key has to confirm it." };
  }
  if (ask.approvalId === "") return { ok: true, says: vouches };
  if (seat.role !== "approver") {
    return { ok: false, says: "Approvals need a key with the role approver. Your key has the role member." };
  }
  if (job === undefined) return { ok: false, says: "Checking if you can approve this…" };
  const planKey = planKeyOf(job);
  if (planKey !== seat.keyId) {
    return {
      ok: false,
      says: `Only the key that submitted the program can approve it: ${planKey}. You are using “${seat.keyName || seat.keyId}”.`,
    };
  }
  if (contact?.approver !== true) {
    return { ok: false, says: `${as} is not an approver. Choose a person who is.` };
  }
  return { ok: true, says: `You can approve this: your key submitted it and has the approver role. ${vouches}` };
}
