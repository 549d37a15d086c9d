import { createKeyring, type Keyring, type ProjectId, type VaultKey, vaultKeyIdOf } from "@svc/core";
import type { Executor } from "@svc/db/connect";
import type { TranslateSealed } from "@svc/db/moves/copy";
import { type MovedDataKey, putMovedDataKeys, reserveDataKeyNumbers, withKeyNumber } from "@svc/db/moves/data-keys";
import { findDataKeys } from "@svc/db/vault/data-keys";
import { findVaultCheck, findVaultRotation } from "@svc/db/vault/rotations";
import { openVaultCheck } from "../start/vault-check.ts";
import { MoveError } from "./errors.ts";

/** The keys of two deployments between which a project moves. */
export type MoveKeyrings = { readonly from: Keyring; readonly to: Keyring };

/**
 * Opens the keys of both deployments between which a project moves. Throws MoveError if they do not use the same vault key: svc derives
 * from it the digests by which it recognizes repeated calls. Also throws MoveError while a vault key is being replaced.
 */
export async function openKeyrings(
  { from, to }: { readonly from: Executor; readonly to: Executor },
  projectId: ProjectId,
  vaultKeys: readonly VaultKey[],
): Promise<MoveKeyrings> {
  const [source, destination] = await Promise.all([currentKey(from, "source"), currentKey(to, "destination")]);
  if (source !== destination)
    throw new MoveError(
      `the source uses the vault key ${source} and the destination ${destination}: both cells need the same vault key (svc vault rotate replaces it)`,
    );
  const ordered = vaultKeys.toSorted((a, b) => Number(b.id === source) - Number(a.id === source));
  return { from: await keyringOf(from, ordered, projectId), to: await keyringOf(to, ordered, projectId) };
}

async function currentKey(db: Executor, which: string): Promise<string> {
  const check = await findVaultCheck(db);
  if (check === undefined) throw new MoveError(`the ${which} has no vault key yet: start its service once`);
  const rotation = await findVaultRotation(db);
  if (rotation !== undefined && rotation.state !== "done")
    throw new MoveError(`the vault key of the ${which} is being replaced: wait until svc vault status says done`);
  return vaultKeyIdOf(check) ?? "";
}

async function keyringOf(db: Executor, vaultKeys: readonly VaultKey[], projectId: ProjectId): Promise<Keyring> {
  const keyring = createKeyring(vaultKeys, () => undefined);
  const check = await findVaultCheck(db);
  if (check !== undefined) openVaultCheck(check, keyring);
  const rows = await findDataKeys(db, [projectId, "deployment"]);
  keyring.add(rows.map(({ wrapped, ...row }) => ({ ...row, secret: keyring.unwrap(row.scope, row.use, wrapped) })));
  return keyring;
}

/**
 * The data keys of a project, prepared for the deployment to which the project moves. `translate`: changes the key number in an encrypted
 * value to that of the destination's key.
 */
export type MovedKeys = {
  readonly translate: TranslateSealed;
  /** Stores the data keys in the destination, after the row of the project. */
  readonly put: (tx: Executor) => Promise<void>;
};

/**
 * Encrypts the data keys of a project for the deployment to which the project moves. The values that these keys encrypt are moved without
 * being decrypted.
 */
export async function moveKeys(
  { from, to }: { readonly from: Executor; readonly to: Executor },
  projectId: ProjectId,
  keyrings: MoveKeyrings,
): Promise<MovedKeys> {
  const rows = (await findDataKeys(from, [projectId])).toSorted((a, b) => a.number - b.number);
  const reserved = await reserveDataKeyNumbers(to, rows.length);
  const keys = rows.map(({ number: former, use, wrapped }, index): MovedDataKey & { number: number } => ({
    ...{ former, use, number: reserved[index] ?? 0 },
    wrapped: keyrings.to.wrap(projectId, use, keyrings.from.unwrap(projectId, use, wrapped)),
  }));
  const numbers = new Map(keys.map(({ former, number }) => [former, number]));
  const chain = `deployment/audit_chains/${projectId}`;
  return {
    // The key of the audit chain is the deployment's, so it is encrypted again.
    translate: (table, sealed) =>
      table === "audit_chains"
        ? keyrings.to.seal(keyrings.from.open(sealed, chain), chain)
        : withKeyNumber(sealed, numbers),
    put: (tx) => putMovedDataKeys(tx, projectId, keys),
  };
}
