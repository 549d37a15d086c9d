import type { JsonObject, StandingProgramId } from "@svc/core";
import type { ClaimedDueTask } from "@svc/db/standing/claim";
import type { StandingPollRecord } from "@svc/db/standing/polls";
import type { LoadedVersion } from "../versions.ts";
import type { FoundRow, SeenRow } from "./met-rows.ts";

/** What one poll came to, to be decided about and written in one transaction. */
export type Polled = {
  readonly task: ClaimedDueTask;
  readonly programId: StandingProgramId;
  /** The version that was polled for: with another one by then, nothing of it counts. */
  readonly loaded: LoadedVersion;
  readonly per: "poll" | "row";
  /** When it was polled. */
  readonly atMs: number;
  readonly nextAt: number;
  readonly found: readonly FoundRow[];
  readonly remembered: readonly SeenRow[];
  /** How many of these were unknown. */
  readonly unknown: number;
  readonly refreshed: readonly string[];
  readonly forgetBefore: number | undefined;
  /** Whether the ids that were not met for the longest time may be forgotten when there are many. */
  readonly isTrimmed: boolean;
  /** What is written, but for how many ids are remembered then. */
  readonly record: StandingPollRecord;
  /** Failed polls in a row before it, and with it. */
  readonly failures: { readonly before: number; readonly now: number };
  /** Why the program pauses: its key is gone, or its tools have changed. Nothing was read then, so that nothing is lost to it. */
  readonly hold: { readonly reason: "key_revoked" | "drift"; readonly detail: string } | undefined;
};

/** A row as runs are given it. */
export function givenOfRows(rows: readonly JsonObject[], per: "poll" | "row"): JsonObject {
  const [row] = rows;
  return per === "row" && row !== undefined ? { row, rows } : { rows };
}

/** Ids that a program remembers at most. */
export const seenMax = 100_000;

/** How many ids are remembered once a poll is written, those apart that are forgotten with it. */
export function seenAfter({ record, unknown }: Pick<Polled, "record" | "unknown">): number {
  return record.seen + unknown;
}
