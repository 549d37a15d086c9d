import type { Executor } from "@svc/db/connect";
import { moveVaultRotation, type VaultRotation } from "@svc/db/vault/rotations";
import type { VaultContext } from "./context.ts";

/**
 * Runs in one transaction: stores the results of one step of a vault key rotation, and the new state of the rotation. If another node has
 * taken over the rotation, stores neither.
 */
export async function move(
  { nodeId, clock, limits }: VaultContext,
  tx: Executor,
  { number }: VaultRotation,
  change: Partial<VaultRotation>,
): Promise<void> {
  const held = { number, owner: nodeId, leaseUntil: clock.now() + limits.leaseMs };
  if (!(await moveVaultRotation(tx, held, change)))
    throw new Error("another node continues the rotation of the vault key");
}
