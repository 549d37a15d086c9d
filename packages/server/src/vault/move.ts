import type { Executor } from "@svc/db/connect";
import { moveVaultRotation, type VaultRotation } from "@svc/db/vault/rotations";
import type { VaultContext } from "./context.ts";

/**
 * Commits the results of one step of a rotation together with the rotation's new state. If another node has taken over the rotation, rolls
 * back both.
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
