import type { ConnectedAccount } from "@svc/db/connections/account";
import { isUniqueViolation } from "@svc/db/driver";
import { activate, type ReadyAccount } from "../activate-account.ts";
import { connectionFaults } from "../errors.ts";
import type { ConnectionsOptions } from "../options.ts";

/**
 * Makes a new account the active account of its entity. Throws REFERENCE_TAKEN if another account already has one of the references (the
 * app's ids) of the new account.
 */
export async function activateOrRefuse(
  options: ConnectionsOptions,
  account: Omit<ReadyAccount, "pending">,
): Promise<ConnectedAccount> {
  try {
    const row = await activate(options, account);
    if (row === undefined) throw new Error("a new account was not kept");
    return row;
  } catch (error) {
    if (isUniqueViolation(error, "account_references_key")) throw connectionFaults.REFERENCE_TAKEN("");
    throw error;
  }
}
