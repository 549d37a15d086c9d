import type { BackfillReason } from "@svc/db/schema/words";
import type { BackfillMove, BackfillRecord, SourceRun } from "@svc/db/standing/backfills";
import type { NewStandingRun } from "@svc/db/standing/runs";
import type { Book } from "../decide/decision-context.ts";
import type { DueBackfill, DueCandidate, ExaminedItem } from "../prepare/due.ts";
import { type DedupeKey, dedupeKeyOf } from "./dedupe.ts";
import { waitingMax } from "./load.ts";
import { againKey, allowanceOfBackfill, hasItsRun } from "../sources/backfill.ts";

/** Rows of keys go some time after they are remembered for: those of a backfill are written so much later. */
const keptMs = 30 * 86_400_000;

/** What a step of a backfill came to. */
export type SteppedBackfill = {
  readonly move: BackfillMove;
  /** Runs whose places others take: their names from now on. */
  readonly renamed: readonly Pick<SourceRun, "id" | "sourceKey">[];
  /** When it goes on; null where it has ended. */
  readonly dueAt: number | null;
};

/** Between two steps. */
const stepMs = 1_000;
/** When it looks again whether what waits has started, or what is new was decided about. */
const waitMs = 2_000;

/** Makes up for what a backfill comes to next, as far as its pace and its program go. `waiting`: runs of the program that wait. */
export function decideBackfill(book: Book, due: DueBackfill, waiting: number): SteppedBackfill {
  const { record, version } = due;
  const { nowMs } = book.facts;
  const at = { id: record.id, updatedAt: nowMs };
  if (version === undefined) {
    const end = { state: "cancelled", reason: "updated", endedAt: nowMs } as const;
    return { move: { ...at, ...end }, renamed: [], dueAt: null };
  }
  const step = new Step(book, due, waiting);
  const hindrance = step.run();
  const pacedAt = due.allowance.pacedAt(step.used);
  const moved = { ...at, ...step.counts, ...step.position, pacedAt };
  if (hindrance === undefined && due.isWhole) {
    return { move: { ...moved, state: "done", reason: "", endedAt: nowMs }, renamed: step.renamed, dueAt: null };
  }
  const reason = hindrance === "pace" ? "" : (hindrance ?? "");
  const pacedTo = Math.max(allowanceOfBackfill({ ...record, pacedAt }, nowMs).nextAt, nowMs + stepMs);
  const isPaced = hindrance === "pace" || step.used >= due.allowance.count;
  const dueAt = reason !== "" ? nowMs + waitMs : isPaced ? pacedTo : nowMs;
  return { move: { ...moved, reason }, renamed: step.renamed, dueAt };
}

/** Why a step ends before it came to everything. */
type Hindrance = Extract<BackfillReason, "waiting" | "undecided"> | "pace";

class Step {
  readonly renamed: Pick<SourceRun, "id" | "sourceKey">[] = [];
  readonly counts: { started: number; skipped: number; passed: number };
  position: Pick<BackfillMove, "positionAt" | "positionEventId">;
  /** Runs that it made. */
  used = 0;
  readonly #book: Book;
  readonly #due: DueBackfill;
  #waiting: number;

  constructor(book: Book, due: DueBackfill, waiting: number) {
    const { started, skipped, passed, positionAt, positionEventId } = due.record;
    this.#book = book;
    this.#due = due;
    this.#waiting = waiting;
    this.counts = { started, skipped, passed };
    this.position = { positionAt, positionEventId };
  }

  /** Comes to one after the other; answers why it ends before the last. */
  run(): Hindrance | undefined {
    for (const look of this.#due.looks) {
      if (this.#book.state === "paused") return "pace";
      const hindrance = look.candidate && this.#comeTo(look, look.candidate);
      if (hindrance !== undefined) return hindrance;
      this.position = look.position;
    }
    return undefined;
  }

  #comeTo({ event }: ExaminedItem, { occurrence, version, filtered }: DueCandidate): Hindrance | undefined {
    const { runs, taken, record, allowance } = this.#due;
    const there = runs.get(occurrence.sourceKey);
    const isTaken = event && taken.get(event.id);
    if (isTaken?.isUndecided) return "undecided";
    if (!("error" in filtered) && !filtered.isDue) {
      this.counts.passed++;
      return undefined;
    }
    const key = dedupeKeyOf(record, { occurrence }, this.#due.version ?? version);
    if (hasItsRun(there) || isTaken !== undefined || this.#mayHaveHadOne(occurrence)) {
      if (key !== undefined && !("fault" in key)) this.#remember(key.own, occurrence.fireAt, key.windowMs);
      this.counts.passed++;
      return undefined;
    }
    if (this.used >= allowance.count) return "pace";
    if (this.#waiting >= Math.min(waitingMax, version.definition.overlap.queueMax)) return "waiting";
    if (there !== undefined) this.renamed.push({ id: there.id, sourceKey: againKey(record.id, there.sourceKey) });
    this.used++;
    if ("error" in filtered) return this.#refuse(occurrence, filtered.reason, filtered.error, version);
    if (key !== undefined && "fault" in key) return this.#refuse(occurrence, "input_invalid", key.fault, version);
    if (key !== undefined) {
      if (isSeen(record, key, occurrence.fireAt, (name) => this.#until(name))) {
        this.#book.skip(occurrence, "duplicate", version);
        this.counts.skipped++;
        return undefined;
      }
      this.#remember(key.own, occurrence.fireAt, key.windowMs);
      if (!record.again) this.#rememberLive(key.live, occurrence.fireAt + key.windowMs);
    }
    this.#count(this.#book.add(occurrence, version));
    this.#book.pauseAfterFailures();
    return undefined;
  }

  /** Its run may have gone since the backfill began. */
  #mayHaveHadOne({ fireAt }: DueCandidate["occurrence"]): boolean {
    const { record, keptFrom } = this.#due;
    return !record.again && fireAt < keptFrom && fireAt >= this.#book.facts.program.createdAt;
  }

  #refuse(...refused: Parameters<Book["refuse"]>): undefined {
    this.#book.refuse(...refused);
    this.counts.skipped++;
    this.#book.pauseAfterFailures();
    return undefined;
  }

  #count({ state }: NewStandingRun): void {
    if (state === "queued") this.#waiting++;
    if (state === "queued" || state === "started") this.counts.started++;
    else this.counts.skipped++;
  }

  #until(key: string): number | undefined {
    return this.#book.seenKeys.get(key) ?? this.#due.seen.get(key);
  }

  #remember(own: string, fireAt: number, windowMs: number): void {
    this.#book.seenKeys.set(own, fireAt + dedupeShiftOf(this.#due.record) + windowMs);
  }

  /** What comes by itself next may be the same as what was made up for. */
  #rememberLive(key: string, until: number): void {
    if (until > (this.#until(key) ?? 0)) this.#book.seenKeys.set(key, until);
  }
}

/**
 * Whether an occurrence is the same as one that its backfill came to before, or as one that was due by itself, less than the window before
 * or after. One that is made due again has its own key among these.
 */
function isSeen(
  { again, ...times }: Pick<BackfillRecord, "again" | "createdAt" | "since">,
  { own, live, windowMs }: DedupeKey,
  fireAt: number,
  until: (key: string) => number | undefined,
): boolean {
  if (fireAt + dedupeShiftOf(times) < (until(own) ?? 0)) return true;
  const liveUntil = until(live);
  if (again || liveUntil === undefined) return false;
  const seenAt = liveUntil - windowMs;
  return seenAt !== fireAt && Math.abs(seenAt - fireAt) < windowMs;
}

/** What a backfill adds to the times of what it comes to, so that its keys stay until it has ended. */
function dedupeShiftOf({ createdAt, since }: Pick<BackfillRecord, "createdAt" | "since">): number {
  return createdAt - since + keptMs;
}
