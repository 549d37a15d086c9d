import type { Executor } from "@svc/db/connect";
import type { InboxLease } from "@svc/db/standing/inbox";
import type { NewStandingRun } from "@svc/db/standing/runs";
import type { DueTaskLease } from "@svc/db/standing/task";
import type { SteppedBackfill } from "../backfill/decide.ts";
import type { Book } from "./decision-context.ts";
import type { Polled } from "../poll/store.ts";
import type { StandingContext } from "../context.ts";
import { decideProgram } from "./decide-program.ts";
import type { DecisionBatch, PreparedDecision, ProgramDue } from "../prepare/due.ts";
import type { Fired } from "../claim/bursts.ts";
import { loadBatch } from "./load.ts";
import { openBooks } from "./read-facts.ts";

/** A program of a batch, with what was decided about it. */
export type Decided = Pick<ProgramDue, "program" | "version" | "counted" | "isAdmitted" | "hasMore"> & {
  readonly book: Book;
  /** What was due of its schedule; undefined where it was not looked at. */
  readonly fired: Fired | undefined;
  /** Runs that were made by calls, in the order of these. */
  readonly called: readonly NewStandingRun[];
  /** What was polled for it; undefined where nothing was. */
  readonly polled: Polled | undefined;
  /** What was made up for by its backfill; undefined where nothing was looked at. */
  readonly backfill: SteppedBackfill | undefined;
};

/** Everything that was decided in a batch. */
export type DecidedBatch = {
  readonly decided: readonly Decided[];
  /** Tasks of the batch that are still this node's. */
  readonly held: readonly DueTaskLease[];
  /** Events that were decided about: they were still this node's. */
  readonly heard: readonly InboxLease[];
};

/** Locks the programs of a batch and decides about everything that is due of them. Nothing but their locks is written. */
export async function decideBatch(
  context: StandingContext,
  tx: Executor,
  batch: DecisionBatch,
  prepared: PreparedDecision,
): Promise<DecidedBatch> {
  const nowMs = context.clock.now();
  const { dues, held, heard } = await loadBatch(context, tx, { batch, prepared, nowMs });
  const books = await openBooks(context, tx, dues, { ...batch, nowMs });
  const { startsMax = Number.POSITIVE_INFINITY } = batch;
  const decided = dues.map((due): Decided => {
    const book = books.open(due);
    const { called, backfill, isCut } = decideProgram(context, book, due, { ...books, startsMax });
    const { program, version, counted, isAdmitted } = due;
    return {
      ...{ program, version, counted, isAdmitted, hasMore: due.hasMore || isCut },
      ...{ book, called, backfill, fired: due.fire?.fired, polled: due.poll?.polled },
    };
  });
  return { decided, held, heard };
}
