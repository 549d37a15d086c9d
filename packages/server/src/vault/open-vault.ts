import {
  createKeyring,
  type DataKeyUse,
  generateKeyBytes,
  type Keyring,
  type KeyScope,
  type NodeId,
  type ProjectId,
} from "@svc/core";
import { findDataKeys, type NewDataKey, putDataKeys } from "@svc/db/vault/data-keys";
import { countSealedRows } from "@svc/db/vault/reseal";
import {
  beginVaultRotation,
  findVaultRotation,
  forgetVaultNodes,
  listVaultNodes,
  type VaultRotation,
} from "@svc/db/vault/rotations";
import { adminFaults } from "../admin/errors.ts";
import { ConfigError } from "../config/environment.ts";
import { type Loop, startLoop } from "../loop.ts";
import type { VaultContext, VaultOptions } from "./context.ts";
import { vaultLimits } from "./key-source.ts";
import { stepRotation } from "./rotate.ts";
import { createVaultState } from "./vault-state.ts";

const uses: readonly DataKeyUse[] = ["seal", "digest"];

/**
 * Loads the data keys (keys that encrypt stored values) of the given owners: projects, or the deployment. Creates the keys that are
 * missing. If several nodes create the same key at once, only one is kept.
 */
async function ensureDataKeys(
  { db, clock, state }: Pick<VaultContext, "db" | "clock" | "state">,
  scopes: readonly KeyScope[],
): Promise<void> {
  const found = await findDataKeys(db, scopes);
  const has = new Set(found.map(({ scope, use }) => `${scope} ${use}`));
  const missing: NewDataKey[] = scopes.flatMap((scope) =>
    uses
      .filter((use) => !has.has(`${scope} ${use}`))
      .map((use) => ({ scope, use, rotation: 0, wrapped: state.sealer.wrap(scope, use, generateKeyBytes()) })),
  );
  if (missing.length > 0) await putDataKeys(db, missing, clock.now());
  state.take(missing.length > 0 ? await findDataKeys(db, scopes) : found);
}

/**
 * Starts a rotation: svc encrypts its stored secrets again with the first key in the list of vault keys. If a rotation is already in
 * progress, returns that one. Throws VAULT_KEY_UNCHANGED, VAULT_KEY_RETIRED and VAULT_KEY_MISSING.
 */
async function beginRotation(context: VaultContext): Promise<VaultRotation> {
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
  if (rotation === undefined) throw new Error("a rotation that was started is not in the database");
  await state.sync();
  return rotation;
}

async function keysToRotateTo({ keys }: VaultContext, current: string) {
  const before = await keys.read();
  if (keys.add === undefined || before[0]?.id !== current) return before;
  await keys.add();
  return await keys.read();
}

/**
 * Throws VAULT_KEY_MISSING if a running node does not have the new vault key. Such a node could not decrypt the values that the rotation
 * encrypts.
 */
async function requireEverywhere({ db, clock, limits }: VaultContext, to: string): Promise<void> {
  const nodes = await listVaultNodes(db, clock.now() - limits.goneMs);
  const without = nodes.filter(({ keyIds }) => !keyIds.includes(to)).map(({ nodeId }) => nodeId);
  if (without.length > 0) throw adminFaults.VAULT_KEY_MISSING(to, without);
}

/**
 * The vault of one process: the keys that seal stored secrets, as the database has them. The vault also does the work when the vault key is
 * changed.
 */
export type Vault = {
  readonly sealer: Keyring;
  readonly nodeId: NodeId;
  /**
   * Starts a rotation (the replacement of the vault key) and returns it. Returns the running rotation if there is one. Rejects with
   * VAULT_KEY_UNCHANGED, VAULT_KEY_RETIRED and VAULT_KEY_MISSING.
   */
  rotate(): Promise<VaultRotation>;
  /** Reads the vault's state (its keys and its running rotation) from the database now. This also happens every few seconds. */
  sync(): Promise<void>;
  /**
   * Does the next step of a vault key rotation (the replacement of the key), if one is running and this process may do it. Returns true if
   * more steps can follow immediately.
   */
  step(): Promise<boolean>;
  stop(): Promise<void>;
};

function keyLacking(keyId: string): ConfigError {
  const message = `the vault key is being rotated to ${keyId}, which this node does not have: it could decrypt nothing`;
  return new ConfigError([{ variable: "SVC_VAULT_KEY", message }]);
}

/**
 * Opens the vault (the store of encrypted credentials) of a process. The database must contain the value with which the process tests its
 * vault key. Rejects with ConfigError if the process does not have the current vault key.
 */
export async function openVault(options: VaultOptions): Promise<Vault> {
  const limits = { ...vaultLimits, ...options.limits };
  const { db, clock, nodeId, logger } = options;
  const load = (missing: readonly ProjectId[]) => context.state.ready(missing, ensure);
  const sealer = createKeyring(await options.keys.read(), load);
  const state = createVaultState({ ...options, limits, sealer });
  const context: VaultContext = { ...options, limits, state };
  const ensure = (projectIds: readonly ProjectId[]) => ensureDataKeys(context, projectIds);
  await state.sync();
  const lacking = state.lacks();
  if (lacking !== undefined) throw keyLacking(lacking);
  await ensureDataKeys(context, ["deployment"]);
  const loops: Loop[] = [];
  let isStopping = false;
  const repeat = (everyMs: number, run: () => Promise<void>, what: string) =>
    void loops.push(startLoop({ clock, everyMs, run, onError: (err) => logger.warn({ err }, what) }));
  const step = () => stepRotation(context);
  repeat(limits.pollMs, state.sync, "the vault's keys could not be read");
  if (options.isRotating) {
    const rotate = async () => {
      while (!isStopping && state.isRotating() && (await step()));
    };
    repeat(Math.min(limits.pollMs, 1_000), rotate, "the rotation of the vault key could not continue");
  }
  return {
    sealer,
    nodeId,
    sync: state.sync,
    step,
    rotate: () => beginRotation(context),
    async stop() {
      isStopping = true;
      await Promise.all(loops.map((loop) => loop.stop()));
      await forgetVaultNodes(db, nodeId, clock.now() - limits.goneMs).catch(() => {});
    },
  };
}
