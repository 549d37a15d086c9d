import type { Child } from "./child.ts";
import type { loadCommands } from "./load.ts";
import type { PostKindName } from "./post-kinds.ts";
import type { BenchPostgres } from "./postgres.ts";
import type { EmbeddingsSettings } from "./search/meaning.ts";
import type { sinkCommands } from "./sink.ts";
import type { Spread } from "./statistics.ts";

/** Shared parts of a benchmark run: one PostgreSQL, one load generator and one receiver, each a process that is kept for all cases. */
export type BenchContext = {
  readonly postgres: BenchPostgres;
  readonly load: Child<typeof loadCommands>;
  readonly sink: Child<typeof sinkCommands>;
  readonly settings: BenchSettings;
  /** True if the store has pg_stat_statements. The slowest statements of each system are then printed. */
  readonly isStatementsKept: boolean;
  /** Shows the current work, on a terminal as one line that is overwritten. */
  progress(text: string): void;
};

/** Settings from the command line. Undefined means the case's own default. */
export type BenchSettings = {
  readonly rounds: number | undefined;
  readonly seconds: number | undefined;
  readonly post: PostKindName | undefined;
  readonly connections: number;
  /** Number of events, for the largest store of the case "growth" and for the cases "replay" and "standing". */
  readonly events: number | undefined;
  /**
   * A regular expression for the names of the steps of "rows", the parts of "standing" or the variants of "delivery" to run. Undefined:
   * all.
   */
  readonly steps: string | undefined;
  /** True if a report lists every miss. */
  readonly verbose: boolean;
  /** Folder of the public sets of search queries. Undefined if they are left out. */
  readonly setsFolder: string | undefined;
  /** Settings for search by meaning, which the case "search" then measures too. Undefined: by words only. */
  readonly embeddings: EmbeddingsSettings | undefined;
  /** Another checkout of this project, with which the case "beside" compares this one. */
  readonly besideFolder: string | undefined;
  /** Number of server processes in the case "beside", to be compared with one process. Undefined: the server's default. */
  readonly processes: number | undefined;
  /** Names, or regular expressions for names, of the workloads that the case "beside" runs. Empty: all of them. */
  readonly besideWorks: readonly string[];
  /** True if the case "beside" fails when the improvements aimed at for version 0.2 are missed. */
  readonly areGainsAims: boolean;
  /** Folder for the server's CPU profiles. If it is set, only the server is measured, and only once. */
  readonly profileFolder: string | undefined;
};

/** A measurement with its aims. */
export type BenchCase = {
  /** Name of the case on the command line. */
  readonly name: string;
  /** One line for --help. */
  readonly about: string;
  /** Parts of the case that can be reported separately. */
  readonly parts?: readonly string[];
  /** Runs the case. A case of several parts reports each part separately. For a part that was not requested, the earlier results stay. */
  run(ctx: BenchContext): Promise<CaseReport | readonly PartReport[]>;
};

/** The printed result of a part of a case. It is recorded as `<case>-<part>`. */
export type PartReport = CaseReport & { readonly part: string };

/** The printed result of a case: a table, the figures that have an aim, and notes that a reader needs. */
export type CaseReport = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly figures: readonly Figure[];
  readonly notes: readonly string[];
};

/** A figure with its aim, which is a lower or an upper bound. The median is compared with it. */
export type Figure = {
  readonly name: string;
  readonly value: Spread;
  readonly unit: string;
  readonly aim: { readonly atLeast: number } | { readonly below: number };
};
