import { countSealedRows } from "@svc/db/vault/reseal";
import { beginVaultRotation, findVaultRotation, listVaultNodes, type VaultRotation } from "@svc/db/vault/rotations";
import { adminFaults } from "../admin/errors.ts";
import type { VaultContext } from "./context.ts";

/**
 * Begins a rotation to the first vault key of this process; where the service keeps its key in a file it makes a new one. Answers the
 * rotation that is under way, where there is one. Throws VAULT_KEY_UNCHANGED, VAULT_KEY_RETIRED and VAULT_KEY_MISSING.
 */
export async function beginRotation(context: VaultContext): Promise<VaultRotation> {
  const { db, clock, state } = context;
  await state.sync();
  const last = await findVaultRotation(db);
  if (last !== undefined && last.state !== "done") return last;
  const [wrapping] = state.vaultKeys();
  const current = wrapping?.id ?? "";
  const keys = await keysToRotateTo(context, current);
  const to = keys[0]?.id ?? "";
  if (to === current) throw adminFaults.VAULT_KEY_UNCHANGED(current);
  if (state.retired().has(to)) throw adminFaults.VAULT_KEY_RETIRED(to);
  if (context.keys.add === undefined) await requireEverywhere(context, to);
  const fromKeyIds = keys.map(({ id }) => id).filter((id) => id !== to && !state.retired().has(id));
  const total = await countSealedRows(db);
  const begun = await beginVaultRotation(db, { toKeyId: to, fromKeyIds, total, nowMs: clock.now() });
  const rotation = begun ?? (await findVaultRotation(db));
  if (rotation === undefined) throw new Error("a rotation that was begun is not in the store");
  await state.sync();
  return rotation;
}

async function keysToRotateTo({ keys }: VaultContext, current: string) {
  const before = await keys.read();
  if (keys.add === undefined || before[0]?.id !== current) return before;
  await keys.add();
  return await keys.read();
}

/** A node without the key would open nothing that the rotation writes. */
async function requireEverywhere({ db, clock, limits }: VaultContext, to: string): Promise<void> {
  const nodes = await listVaultNodes(db, clock.now() - limits.goneMs);
  const without = nodes.filter(({ keyIds }) => !keyIds.includes(to)).map(({ nodeId }) => nodeId);
  if (without.length > 0) throw adminFaults.VAULT_KEY_MISSING(to, without);
}
