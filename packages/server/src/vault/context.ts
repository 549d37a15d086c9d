import type { Clock, Keyring, NodeId, ProjectId, VaultKey } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { DataKeyRow } from "@svc/db/vault/data-keys";
import type { Logger } from "../logger.ts";
import type { KeySource, VaultLimits } from "./key-source.ts";

/** Where a rotation can be broken off by tests: after its keys are stored, after a page is, and before the end is. */
export type RotationFaultPoint = "keys-made" | "page-written" | "before-done";

/** What a process knows of the vault. */
export type VaultState = {
  /** Compares it with the store, and reads what differs. One at a time. */
  sync(): Promise<void>;
  /** As `Sealer.ready`; `ensure` makes what projects lack. */
  ready(
    missing: readonly ProjectId[],
    ensure: (projectIds: readonly ProjectId[]) => Promise<void>,
  ): Promise<void> | undefined;
  /** Takes data keys in. Of one that does not unwrap it tells the log; answers whether all did. */
  take(rows: readonly DataKeyRow[]): boolean;
  readonly sealer: Keyring;
  /** The ids of the vault keys that open here. */
  keyIds(): ReadonlySet<string>;
  /** The vault keys that open here, the one that wraps first. */
  vaultKeys(): readonly VaultKey[];
  /** Those that a rotation replaced. */
  retired(): ReadonlySet<string>;
  /** The vault key that wraps, where it is not among those of this process: then nothing opens here. */
  lacks(): string | undefined;
  isRotating(): boolean;
  /** The last rotation whose keys are all here. */
  rotationRead(): number;
};

/** What a vault works with. `isRotating`: whether this process moves rotations on, as those with background work do. */
export type VaultOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly nodeId: NodeId;
  readonly keys: KeySource;
  readonly logger: Logger;
  readonly isRotating: boolean;
  readonly limits?: Partial<VaultLimits> | undefined;
  readonly onFaultPoint?: ((point: RotationFaultPoint) => Promise<void> | void) | undefined;
};

/** What the parts of a vault share. */
export type VaultContext = Omit<VaultOptions, "limits"> & { readonly limits: VaultLimits; readonly state: VaultState };
