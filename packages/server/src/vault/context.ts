import type { Clock, Keyring, NodeId, ProjectId, VaultKey } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { DataKeyRow } from "@svc/db/vault/data-keys";
import type { Logger } from "../logger.ts";
import type { KeySource, VaultLimits } from "./key-source.ts";

/**
 * Points at which tests interrupt the replacement of the vault's key (a rotation). `keys-made`: after the new keys are stored.
 * `page-written`: after a batch of rows is encrypted with the new keys. `before-done`: before the rotation is marked as finished.
 */
export type RotationFaultPoint = "keys-made" | "page-written" | "before-done";

/** This process's copy of the vault's state in the database: keys and rotations. */
export type VaultState = {
  /** Reads the changes of the vault's state from the database. If a read is already running, no second read starts. */
  sync(): Promise<void>;
  /**
   * Returns a promise that resolves when the data keys of these projects are loaded. Returns undefined if they are loaded already.
   * `ensure`: creates missing data keys.
   */
  ready(
    missing: readonly ProjectId[],
    ensure: (projectIds: readonly ProjectId[]) => Promise<void>,
  ): Promise<void> | undefined;
  /**
   * Adds data keys (keys that encrypt stored values) to this process. Decrypts them with the vault keys of the process. Returns true if all
   * could be decrypted. Each key that could not be decrypted is logged.
   */
  take(rows: readonly DataKeyRow[]): boolean;
  readonly sealer: Keyring;
  /** Returns the ids of the vault keys that this process has. */
  keyIds(): ReadonlySet<string>;
  /** Returns the vault keys that this process has. The first key encrypts data keys. */
  vaultKeys(): readonly VaultKey[];
  /** Returns the ids of the vault keys that a rotation replaced. */
  retired(): ReadonlySet<string>;
  /**
   * Returns undefined if this process has the current vault key. Otherwise returns the id of that key; this process then cannot open any
   * value.
   */
  lacks(): string | undefined;
  isRotating(): boolean;
  /** Returns the number of the newest rotation (change of the vault key) whose keys this process has read completely. */
  rotationRead(): number;
};

/** Dependencies of a vault. `isRotating`: true if this process does the work of rotations, as all processes with background work do. */
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

/**
 * Options, limits and current state of the vault (the store of encrypted credentials), for the functions that open it and rotate its keys.
 */
export type VaultContext = Omit<VaultOptions, "limits"> & { readonly limits: VaultLimits; readonly state: VaultState };
