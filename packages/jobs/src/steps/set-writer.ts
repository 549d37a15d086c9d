import type { JsonObject, Step } from "@svc/program";
import type { Change, Edit } from "../state/change.ts";
import type { StepEffects } from "./effects.ts";
import type { PartialCommit, StepAt } from "./step-kind.ts";

/** Rows that are committed together: of those that are made their fields are sealed and stored as well. */
const chosenAtOnce = 2_000;
const madeAtOnce = 1_000;
const charactersAtOnce = 262_144;

/** About how long the text of a row is; what is nested counts as it is written. */
function charactersOf(row: JsonObject): number {
  let characters = 0;
  for (const name in row) {
    const value = row[name];
    if (typeof value === "string") characters += value.length;
    else if (typeof value === "object" && value !== null) characters += JSON.stringify(value).length;
  }
  return characters;
}

/** A step at hand, of whatever kind. */
type WrittenStep = Pick<StepAt, "state" | "instruction"> & { readonly step: Step };

/**
 * Writes the set of a step that is made in one act, part by part, so that no commit is large. The act begins the step: what an earlier
 * one left of it is gone. Nothing is lost by that, since such a step calls nobody.
 */
export class SetWriter {
  readonly #at: WrittenStep;
  readonly #keep: PartialCommit;
  #edits: Edit[];
  #waiting = 0;
  #size = 0;
  #keeping: Promise<unknown> = Promise.resolve();

  constructor(at: WrittenStep, { clock }: Pick<StepEffects, "clock">, keep: PartialCommit) {
    this.#at = at;
    this.#keep = keep;
    // It is told of with the first part that is committed, or at the end.
    this.#edits = [{ kind: "begin", step: at.step, sinceMs: clock.now() }];
  }

  /** Whether the set has no room for so many more rows. */
  isFull(more: number): boolean {
    return this.#size + more > this.#at.state.loaded.program.limits.rows;
  }

  /** Rows of the job become rows of the set; `looked` is how many were looked at for it. */
  async choose(rowNumbers: readonly number[], looked: number): Promise<void> {
    let left = looked;
    for (let from = 0; from < rowNumbers.length || left > 0; from += chosenAtOnce) {
      const part = rowNumbers.slice(from, from + chosenAtOnce);
      const isLast = from + chosenAtOnce >= rowNumbers.length;
      const lookedHere = isLast ? left : Math.min(left, part.length);
      left -= lookedHere;
      await this.#put(
        { kind: "chosen", setId: this.#at.step.id, rowNumbers: part, looked: lookedHere },
        part.length / chosenAtOnce,
      );
      if (isLast) return;
    }
  }

  /** Rows that are made become rows of the set. */
  async make(rows: readonly JsonObject[], looked: number): Promise<void> {
    let left = looked;
    let part: JsonObject[] = [];
    let share = 0;
    for (const row of rows) {
      part.push(row);
      share += 1 / madeAtOnce + charactersOf(row) / charactersAtOnce;
      if (share < 1) continue;
      await this.#put({ kind: "made", setId: this.#at.step.id, rows: part, looked: left }, share);
      part = [];
      share = 0;
      left = 0;
    }
    if (part.length + left > 0) {
      await this.#put({ kind: "made", setId: this.#at.step.id, rows: part, looked: left }, share);
    }
  }

  async #put(edit: Edit, share: number): Promise<void> {
    this.#edits.push(edit);
    this.#size += edit.kind === "chosen" ? edit.rowNumbers.length : edit.kind === "made" ? edit.rows.length : 0;
    this.#waiting += share;
    if (this.#waiting < 1) return;
    const edits = this.#edits;
    this.#edits = [];
    this.#waiting = 0;
    // The part before it is committed by now, and the next one is made while this one is.
    await this.#keeping;
    this.#keeping = this.#keep([...edits, { kind: "logProgress", stepId: this.#at.step.id }]);
    // Whoever waits for it hears of a failure.
    this.#keeping.catch(() => {});
  }

  /** The end of the step: its set is whole. */
  async finish(): Promise<Change> {
    await this.#keeping;
    const { step, instruction } = this.#at;
    // A set without rows is known to have none.
    this.#edits.push({ kind: "chosen", setId: step.id, rowNumbers: [], looked: 0 });
    const finish: Edit = { kind: "finish", stepId: step.id, state: "completed", to: instruction.next };
    return { edits: [...this.#edits, finish], next: { kind: "on" } };
  }

  /** The act is given up: the driver knows why, and another one makes the set. */
  async giveUp(): Promise<Change> {
    await this.#keeping;
    return { edits: this.#edits, next: { kind: "commit" } };
  }

  /** The act waits for what others hold, and has made nothing yet: the job is given back until a time. */
  async postpone(atMs: number): Promise<Change> {
    await this.#keeping;
    return { edits: [], next: { kind: "until", atMs } };
  }

  /** The set would have more rows than the job may. */
  async fail(next: Extract<Change["next"], { kind: "fail" | "limit" }>): Promise<Change> {
    await this.#keeping;
    return { edits: this.#edits, next };
  }
}
