import type { Fault, KeyId, Role } from "@svc/core";
import type { AskRecord } from "@svc/db/asks/repo";
import type { Contact } from "@svc/db/contacts/repo";
import { askFaults } from "./errors.ts";

/** Who presents an answer to an approval, for which contact. */
export type Decider = {
  readonly keyId: KeyId;
  readonly role: Role;
  readonly principalId: string;
  /** The contact as it is now; undefined when there is none of that name any more. */
  readonly contact: Pick<Contact, "isApprover"> | undefined;
};

/**
 * The policy of approvals: true when the answer may decide, else why it may not. The key is an approver's, it is the one whose plan
 * parked there, and the contact, which the ask has reached, is marked approver.
 */
export function mayDecide(ask: Pick<AskRecord, "keyId">, decider: Decider): true | Fault {
  if (decider.role !== "approver") return askFaults.APPROVER_ROLE_REQUIRED();
  if (decider.keyId !== ask.keyId) return askFaults.APPROVAL_KEY_MISMATCH(decider.keyId);
  if (decider.contact?.isApprover !== true) return askFaults.PRINCIPAL_NOT_APPROVER(decider.principalId);
  return true;
}
