/** Times and sizes of a node's vault; milliseconds. */
export type VaultLimits = {
  /** Pause between two looks at what the store has of the vault. */
  readonly pollMs: number;
  /** What was looked at so long ago is looked at anew before anything of another node's is opened. */
  readonly freshMs: number;
  /** How often a node notes that it runs. */
  readonly noteMs: number;
  /** A node that was not seen for so long does not run. */
  readonly goneMs: number;
  /** Before the next pass over the tables: what was read before the last one changed it has been used by then. */
  readonly graceMs: number;
  /** How long a rotation is held without a word of its holder. */
  readonly leaseMs: number;
  /** Rows of a batch. */
  readonly pageRows: number;
};

/** Those of a service. */
export const vaultLimits: VaultLimits = {
  pollMs: 10_000,
  freshMs: 15_000,
  noteMs: 10_000,
  goneMs: 60_000,
  graceMs: 30_000,
  leaseMs: 30_000,
  pageRows: 500,
};
