import { type Fault, fault, formatValue } from "@svc/core";

/** The first vault key is the one in use. */
export function vaultKeyUnchanged(keyId: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "VAULT_KEY_UNCHANGED",
    message: `the first key of SVC_VAULT_KEY, ${formatValue(keyId)}, is the one that is in use`,
    help: "Put a new key before it in SVC_VAULT_KEY of every node, start them again one after the other, and call RotateVault then.",
  });
}

/** The first vault key is one that an earlier rotation replaced. */
export function vaultKeyRetired(keyId: string): Fault {
  return fault({
    code: "failed_precondition",
    reason: "VAULT_KEY_RETIRED",
    message: `the first key of SVC_VAULT_KEY, ${formatValue(keyId)}, was replaced by an earlier rotation`,
    help: "Make a new key: one that was replaced is not used again.",
  });
}

/** Nodes that run lack the vault key. */
export function vaultKeyMissing(keyId: string, nodeIds: readonly string[]): Fault {
  return fault({
    code: "failed_precondition",
    reason: "VAULT_KEY_MISSING",
    message: `vault key ${formatValue(keyId)} is not among the keys of ${nodeIds.slice(0, 10).join(", ")}`,
    help: "Put it into SVC_VAULT_KEY of every node and start those again; a node that does not run any more is forgotten after a minute.",
  });
}
