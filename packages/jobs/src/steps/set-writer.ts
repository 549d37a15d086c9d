import type { JsonObject, Step } from "@svc/program";
import type { Change, Edit } from "../state/change.ts";
import type { StepEffects } from "./effects.ts";
import type { PartialCommit, StepAt } from "./step-kind.ts";

/**
 * Maximum number of rows that one commit adds to a set (the list that a step makes), if the rows are already stored in another set. Newly
 * made rows are committed in smaller parts, because they must be encrypted and stored.
 */
const chosenAtOnce = 2_000;
const madeAtOnce = 1_000;
const charactersAtOnce = 262_144;

/** Returns the approximate length of a row's text. Nested values count with the length of their JSON. */
function charactersOf(row: JsonObject): number {
  let characters = 0;
  for (const name in row) {
    const value = row[name];
    if (typeof value === "string") characters += value.length;
    else if (typeof value === "object" && value !== null) characters += JSON.stringify(value).length;
  }
  return characters;
}

/** A step that writes a set of rows, and the job that runs it. */
type WrittenStep = Pick<StepAt, "state" | "instruction"> & { readonly step: Step };

/**
 * Stores the set (list of rows) of a step that makes all its rows at once. The rows are committed in several parts, so that no commit is
 * large. If an earlier run of the step was interrupted, its rows are first removed. This is safe, because such a step makes no calls.
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
    // The beginning of the step is logged with the first committed part, or at the end.
    this.#edits = [{ kind: "begin", step: at.step, sinceMs: clock.now() }];
  }

  /** True if the job's limit of rows does not allow `more` additional rows in the set (list of rows) that the step makes. */
  isFull(more: number): boolean {
    return this.#size + more > this.#at.state.loaded.program.limits.rows;
  }

  /**
   * Adds existing rows of the job to the set (list of rows) that the step makes. `looked`: number of rows that the step read to choose
   * these rows.
   */
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

  /** Adds new rows to the set (list of rows) that the step makes. `looked`: number of rows that the step read to make these rows. */
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
    // Waits until the previous part of the set is committed. Then the commit of this part begins. During this commit, the step can already
    // make the next part.
    await this.#keeping;
    this.#keeping = this.#keep([...edits, { kind: "logProgress", stepId: this.#at.step.id }]);
    // The error is not lost: the code that awaits `#keeping` gets it.
    this.#keeping.catch(() => {});
  }

  /** Returns the change to the job that ends the step. Called when all rows of the step are stored. */
  async finish(): Promise<Change> {
    await this.#keeping;
    const { step, instruction } = this.#at;
    // An empty list of rows records that the set exists and is empty.
    this.#edits.push({ kind: "chosen", setId: step.id, rowNumbers: [], looked: 0 });
    const finish: Edit = { kind: "finish", stepId: step.id, state: "completed", to: instruction.next };
    return { edits: [...this.#edits, finish], next: { kind: "on" } };
  }

  /**
   * Returns the change that ends this step action (one unit of the step's work) before its set of rows is complete. A later step action
   * makes the whole set again.
   */
  async giveUp(): Promise<Change> {
    await this.#keeping;
    return { edits: this.#edits, next: { kind: "commit" } };
  }

  /**
   * Returns the change with which the node gives the job back before the step has made any rows, because memory is short. The job is due
   * again at `atMs` (epoch milliseconds).
   */
  async postpone(atMs: number): Promise<Change> {
    await this.#keeping;
    return { edits: [], next: { kind: "until", atMs } };
  }

  /**
   * Returns the change of the job that makes the step fail, for example because its list has more rows than the job may have. `next`: how
   * the job continues after the failure.
   */
  async fail(next: Extract<Change["next"], { kind: "fail" | "limit" }>): Promise<Change> {
    await this.#keeping;
    return { edits: this.#edits, next };
  }
}
