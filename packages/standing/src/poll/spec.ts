import type { JsonObject, Paging, Path } from "@svc/program";

/** What of a list is new at the first poll of a program: nothing, everything, or the last ones. */
export type PollFirst = "skip" | "all" | { readonly last: number };

/**
 * Where a poll goes on. `seen`: every poll walks all pages, and compares ids. `after`: argument `arg` takes the bound: the greatest `from`
 * of the rows so far, less the overlap where that is a time, or plus `step`; without `from` the time of the last poll. `newest`: with
 * `args` the newest rows come first, and a poll ends at a page without an unknown id. `token`: `arg` takes what stood at `from` in the
 * answer before, as long as there is more.
 */
export type PollCursor =
  | { readonly kind: "seen" }
  | {
      readonly kind: "after";
      readonly arg: string;
      readonly from: Path | undefined;
      readonly overlapMs: number;
      readonly step: number | undefined;
    }
  | { readonly kind: "newest"; readonly args: JsonObject }
  | { readonly kind: "token"; readonly arg: string; readonly from: Path; readonly more: Path | undefined };

/** How the rows of a list are walked. */
export type WalkSpec = {
  readonly args: JsonObject;
  /** Where the list stands in the answer. */
  readonly rows: Path;
  /** Where the id stands in a row. */
  readonly id: Path;
  readonly cursor: PollCursor;
  /** Undefined: the list has one page. */
  readonly paging: Paging | undefined;
  /** Of a list of one page: the argument that says how many rows it answers at most. */
  readonly size: string | undefined;
  /** Fields of a row that runs are given; undefined for all. */
  readonly keep: readonly string[] | undefined;
  /** Whether a row that is known is found again where its kept fields differ. */
  readonly findsChanged: boolean;
};
