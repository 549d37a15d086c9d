import type { Executor } from "@svc/db/connect";
import { moveVaultRotation, type VaultRotation } from "@svc/db/vault/rotations";
import type { VaultContext } from "./context.ts";

/** Commits a step of a rotation with its results. Rolls back if another node now does the rotation. */
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
