import type { Child } from "./child.ts";
import type { loadCommands } from "./load.ts";
import type { PostKindName } from "./post-kinds.ts";
import type { BenchPostgres } from "./postgres.ts";
import type { EmbeddingsSettings } from "./search/meaning.ts";
import type { sinkCommands } from "./sink.ts";
import type { Spread } from "./statistics.ts";

/** What a case runs in: one PostgreSQL, one load generator and one sink, each a process, kept for the whole run. */
export type BenchContext = {
  readonly postgres: BenchPostgres;
  readonly load: Child<typeof loadCommands>;
  readonly sink: Child<typeof sinkCommands>;
  readonly settings: BenchSettings;
  /** Whether the store keeps pg_stat_statements; then the ones that took the most time are shown for each system. */
  readonly isStatementsKept: boolean;
  /** Shows what is being done; on a terminal one line that is overwritten. */
  progress(text: string): void;
};

/** What the command line sets; undefined means the case's own default. */
export type BenchSettings = {
  readonly rounds: number | undefined;
  readonly seconds: number | undefined;
  readonly post: PostKindName | undefined;
  readonly connections: number;
  /** How many events the largest store of the case "growth" holds, or the cases "replay" and "standing" are about. */
  readonly events: number | undefined;
  /** Which steps of the case "rows", parts of "standing" or variants of "delivery", a regular expression over their names; undefined: all of them. */
  readonly steps: string | undefined;
  /** Whether a report lists every miss. */
  readonly verbose: boolean;
  /** The folder of the public sets of search; undefined when they are left out. */
  readonly setsFolder: string | undefined;
  /** What the case "search" searches by meaning with as well; undefined: by words alone. */
  readonly embeddings: EmbeddingsSettings | undefined;
  /** Another checkout of this project, which the case "beside" measures this one against. */
  readonly besideFolder: string | undefined;
  /** Processes of the server that the case "beside" measures against one with one process; undefined: as many as there are by default. */
  readonly processes: number | undefined;
  /** Which works of that case, by their names or regular expressions; none: all of them. */
  readonly besideWorks: readonly string[];
  /** Whether that case is judged by what version 0.2 was to gain. */
  readonly areGainsAims: boolean;
  /** Where the server writes its CPU profiles; then nothing but the server is measured, once. */
  readonly profileFolder: string | undefined;
};

/** A measurement with its aims. */
export type BenchCase = {
  /** As it is given on the command line. */
  readonly name: string;
  /** One line for --help. */
  readonly about: string;
  /** What it may report by itself, of a case of several parts. */
  readonly parts?: readonly string[];
  /** A case of several parts reports each by itself: one that was not asked for keeps what was recorded of it. */
  run(ctx: BenchContext): Promise<CaseReport | readonly PartReport[]>;
};

/** What a part of a case prints. It is recorded as `<case>-<part>`. */
export type PartReport = CaseReport & { readonly part: string };

/** What a case prints: a table, the figures that have an aim, and what a reader must know. */
export type CaseReport = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly figures: readonly Figure[];
  readonly notes: readonly string[];
};

/** A figure with its aim: at least it, or below it. The median is what the aim is for. */
export type Figure = {
  readonly name: string;
  readonly value: Spread;
  readonly unit: string;
  readonly aim: { readonly atLeast: number } | { readonly below: number };
};
