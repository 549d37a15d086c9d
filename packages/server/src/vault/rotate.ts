import { generateKeyBytes, vaultKeyIdOf } from "@svc/core";
import { type Executor, withTransaction } from "@svc/db/connect";
import {
  type DataKeyRow,
  listDataKeys,
  lockDataKeys,
  type NewDataKey,
  putDataKeys,
  removeReplacedDataKeys,
  rewrapDataKey,
} from "@svc/db/vault/data-keys";
import {
  leaseVaultRotation,
  listVaultNodes,
  type OldSubkey,
  putOldSubkeys,
  replaceVaultCheck,
  type VaultRotation,
} from "@svc/db/vault/rotations";
import { vaultCheckContext, vaultCheckText } from "../start/vault-check.ts";
import type { VaultContext } from "./context.ts";
import { move } from "./move.ts";
import { resealPage } from "./reseal-page.ts";

/**
 * Purposes of keys that svc keeps after the vault key was replaced. With the kept keys, svc still recognizes tool calls that it recorded
 * before.
 */
const lastingPurposes = ["tool-call-digest"];

/**
 * Does one step of the rotation (replacement) of the vault key, unless another process does it. Any node can do the next step. Returns true
 * if the next step can follow at once.
 */
export async function stepRotation(context: VaultContext): Promise<boolean> {
  const { db, nodeId, clock, limits } = context;
  const rotation = await leaseVaultRotation(db, nodeId, { nowMs: clock.now(), leaseMs: limits.leaseMs });
  if (rotation === undefined) return false;
  switch (rotation.state) {
    case "announced":
      return await makeKeys(context, rotation);
    case "distributing":
      return await awaitNodes(context, rotation);
    case "resealing":
      if (rotation.notBefore !== null && rotation.notBefore > clock.now()) return false;
      return (await resealPage(context, rotation)) === "done" ? await finish(context, rotation) : true;
    case "done":
      return false;
  }
}

/** Creates new data keys, and encrypts all older data keys with the new vault key. Returns true if the rotation can continue at once. */
async function makeKeys(context: VaultContext, rotation: VaultRotation): Promise<boolean> {
  const { db, clock, state, onFaultPoint } = context;
  await state.sync();
  if (state.vaultKeys()[0]?.id !== rotation.toKeyId) {
    await move(context, db, rotation, {
      problem: `the node that continues the rotation does not have vault key ${rotation.toKeyId}`,
    });
    return false;
  }
  await putOldSubkeys(db, oldSubkeys(context, rotation), clock.now());
  for (let after = 0; ; ) {
    const rows = await listDataKeys(db, after);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.number;
    state.take(rows);
    await rewrap(context, db, rotation, rows);
    const replaced = rows.filter(({ use, number }) => use === "seal" && number <= rotation.lastOldNumber);
    await putDataKeys(db, newKeysOf(context, rotation, replaced), clock.now());
    await move(context, db, rotation, {});
  }
  await onFaultPoint?.("keys-made");
  await move(context, db, rotation, { state: "distributing", problem: "" });
  await state.sync();
  return true;
}

/**
 * Returns the data keys that a rotation of the vault key creates. Each owner of data keys (a project, or the deployment) gets only one new
 * key, even if an interrupted rotation left several keys.
 */
function newKeysOf({ state }: VaultContext, { number }: VaultRotation, rows: readonly DataKeyRow[]): NewDataKey[] {
  const scopes = new Set(rows.map(({ scope }) => scope));
  return [...scopes].map((scope) => ({
    ...{ scope, use: "seal", rotation: number },
    wrapped: state.sealer.wrap(scope, "seal", generateKeyBytes()),
  }));
}

async function rewrap(
  { state }: VaultContext,
  db: Executor,
  { toKeyId }: VaultRotation,
  rows: readonly DataKeyRow[],
): Promise<void> {
  const { sealer } = state;
  for (const { number, scope, use, wrapped } of rows) {
    if (vaultKeyIdOf(wrapped) === toKeyId) continue;
    await rewrapDataKey(db, number, sealer.wrap(scope, use, sealer.unwrap(scope, use, wrapped)));
  }
}

function oldSubkeys({ state }: VaultContext, { toKeyId }: VaultRotation): OldSubkey[] {
  const { sealer } = state;
  return lastingPurposes.flatMap((purpose) =>
    sealer
      .subkeys(purpose)
      .filter(({ id }) => id !== toKeyId)
      .map(({ id: keyId, secret }) => ({
        ...{ keyId, purpose },
        secret: sealer.seal(secret, `deployment/old_subkeys/${keyId}/${purpose}`),
      })),
  );
}

/**
 * Returns false if a running node does not have the new keys yet. Otherwise moves the rotation to its next step and returns true. From then
 * on, values may be sealed with the new keys, so every node must be able to open them.
 */
async function awaitNodes(context: VaultContext, rotation: VaultRotation): Promise<boolean> {
  const { db, clock, limits, state } = context;
  await state.sync();
  const nodes = await listVaultNodes(db, clock.now() - limits.goneMs);
  const waiting = nodes.filter((node) => node.rotation < rotation.number).map(({ nodeId }) => nodeId);
  if (waiting.length > 0) {
    const problem = `nodes have not read the new keys yet: ${waiting.slice(0, 10).join(", ")}`;
    if (problem !== rotation.problem) await move(context, db, rotation, { problem });
    return false;
  }
  await move(context, db, rotation, { state: "resealing", problem: "", atTable: "", atKey: "" });
  await state.sync();
  return true;
}

/**
 * Ends the rotation of the vault key in one transaction. Afterwards, every data key is encrypted with the new vault key, and all replaced
 * data keys are deleted.
 */
async function finish(context: VaultContext, rotation: VaultRotation): Promise<boolean> {
  const { db, clock, state, onFaultPoint, logger } = context;
  const { sealer } = state;
  await onFaultPoint?.("before-done");
  await withTransaction(db, async (tx) => {
    await lockDataKeys(tx);
    await removeReplacedDataKeys(tx, rotation.lastOldNumber);
    for (let after = 0; ; ) {
      const rows = await listDataKeys(tx, after);
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last.number;
      await rewrap(context, tx, rotation, rows);
    }
    await replaceVaultCheck(tx, sealer.sealDirectly(vaultCheckText, vaultCheckContext));
    await move(context, tx, rotation, { state: "done", finishedAt: clock.now(), atTable: "", atKey: "" });
  });
  logger.info(
    { rotation: rotation.number, resealed: rotation.resealed },
    "the vault key was rotated; the old one is refused",
  );
  await state.sync();
  return false;
}
