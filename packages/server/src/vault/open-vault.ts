import { createKeyring, type Keyring, type NodeId, type ProjectId } from "@svc/core";
import { forgetVaultNodes, type VaultRotation } from "@svc/db/vault/rotations";
import { ConfigError } from "../config/config-error.ts";
import { type Loop, startLoop } from "../loop.ts";
import { beginRotation } from "./begin-rotation.ts";
import type { VaultContext, VaultOptions } from "./context.ts";
import { ensureDataKeys } from "./ensure-data-keys.ts";
import { vaultLimits } from "./limits.ts";
import { stepRotation } from "./rotate.ts";
import { createVaultState } from "./vault-state.ts";

/** The vault of one process: its keyring, kept as the store has it, and its part in rotations. */
export type Vault = {
  readonly sealer: Keyring;
  readonly nodeId: NodeId;
  /** Begins a rotation, or answers the one that is under way. Rejects with VAULT_KEY_UNCHANGED, VAULT_KEY_RETIRED and VAULT_KEY_MISSING. */
  rotate(): Promise<VaultRotation>;
  /** Looks at the store now, as it does every few seconds. */
  sync(): Promise<void>;
  /** Moves a rotation that is under way on, as far as this process may. Answers whether there is more to do at once. */
  step(): Promise<boolean>;
  stop(): Promise<void>;
};

function keyLacking(keyId: string): ConfigError {
  const message = `the vault key is being rotated to ${keyId}, which is not among this node's: it would open nothing`;
  return new ConfigError([{ variable: "SVC_VAULT_KEY", message }]);
}

/** Opens the vault of a process over a store whose vault check is made. Rejects with ConfigError for a process without the key in use. */
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
    repeat(Math.min(limits.pollMs, 1_000), rotate, "the rotation of the vault key could not go on");
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
