import type { Clock, Keyring, NodeId, ProjectId, VaultKey } from "@svc/core";
import type { Database } from "@svc/db/connect";
import type { DataKeyRow } from "@svc/db/vault/data-keys";
import type { Logger } from "../logger.ts";
import type { KeySource, VaultLimits } from "./key-source.ts";

/** Points at which tests interrupt a rotation: after its keys are stored, after a page, and before the end. */
export type RotationFaultPoint = "keys-made" | "page-written" | "before-done";

/** A process's state of the vault. */
export type VaultState = {
  /** Compares the state with the database and reads the differences. Runs one at a time. */
  sync(): Promise<void>;
  /** Like `Sealer.ready`. `ensure` creates the missing keys of projects. */
  ready(
    missing: readonly ProjectId[],
    ensure: (projectIds: readonly ProjectId[]) => Promise<void>,
  ): Promise<void> | undefined;
  /** Adds data keys. Logs those that cannot be unwrapped; returns true if all could. */
  take(rows: readonly DataKeyRow[]): boolean;
  readonly sealer: Keyring;
  /** Returns the ids of the vault keys available here. */
  keyIds(): ReadonlySet<string>;
  /** Returns the vault keys available here, the wrapping one first. */
  vaultKeys(): readonly VaultKey[];
  /** Returns those that a rotation replaced. */
  retired(): ReadonlySet<string>;
  /** Returns the wrapping vault key if this process lacks it; nothing can then be opened here. */
  lacks(): string | undefined;
  isRotating(): boolean;
  /** Returns the last rotation whose keys are all here. */
  rotationRead(): number;
};

/** Dependencies of a vault. `isRotating`: true if this process advances rotations, as processes with background work do. */
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

/** Shared parts of a vault. */
export type VaultContext = Omit<VaultOptions, "limits"> & { readonly limits: VaultLimits; readonly state: VaultState };
