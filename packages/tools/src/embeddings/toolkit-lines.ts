import type { Toolkit } from "@svc/catalog";

/** Owner of the toolkits in one line (queue): a project, or the shared catalog. */
type Owner = Toolkit["ownerProjectId"];

/**
 * Pace of an owner. `failures`: number of consecutive failures. `notBeforeMs`: earliest time of the owner's next turn, epoch milliseconds.
 */
export type LinePace = { failures: number; notBeforeMs: number };

type Line = LinePace & { readonly toolkits: Set<Toolkit> };

/** Pause after failures, milliseconds. `firstMs`: first pause. It doubles with each consecutive failure, up to `maxMs`. */
const pause = { firstMs: 5_000, maxMs: 300_000 };

/** Delays the next turn of a pace after a failure. The delay grows with each failure until a request succeeds. */
export function slowDown(pace: LinePace, nowMs: number): void {
  pace.notBeforeMs = nowMs + Math.min(pause.maxMs, pause.firstMs * 2 ** pace.failures++);
}

/**
 * Toolkits that wait for vectors, in one line (queue) per owner. Owners take turns, and a failure delays only its own owner. Other owners
 * are therefore not delayed by an owner with many toolkits, or by one whose texts the endpoint refuses.
 */
export class ToolkitLines {
  readonly #countMax: number;
  /** Lines in the order of their owners' last turns. */
  readonly #lines = new Map<Owner, Line>();

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /**
   * Adds a toolkit and returns true. Returns false if the toolkit already waits; its position then stays the same. If there are more
   * toolkits than the maximum, the first toolkit of the longest line is dropped.
   */
  add(toolkit: Toolkit): boolean {
    const line = this.#lines.get(toolkit.ownerProjectId) ?? { toolkits: new Set(), failures: 0, notBeforeMs: 0 };
    if (line.toolkits.has(toolkit)) return false;
    this.#lines.set(toolkit.ownerProjectId, line);
    line.toolkits.add(toolkit);
    const lines = [...this.#lines.values()];
    const longest = lines.reduce((most, next) => (next.toolkits.size > most.toolkits.size ? next : most));
    const [oldest] = longest.toolkits;
    const count = lines.reduce((sum, { toolkits }) => sum + toolkits.size, 0);
    if (oldest !== undefined && count > this.#countMax) this.remove(oldest);
    return true;
  }

  /** Removes a toolkit that has all its vectors or is no longer needed. */
  remove(toolkit: Toolkit): void {
    const line = this.#lines.get(toolkit.ownerProjectId);
    line?.toolkits.delete(toolkit);
    if (line?.toolkits.size === 0) this.#lines.delete(toolkit.ownerProjectId);
  }

  /** Returns the next toolkit and its owner's pace, and moves that owner to the end. Undefined if no owner may have a turn now. */
  next(nowMs: number): { readonly toolkit: Toolkit; readonly pace: LinePace } | undefined {
    for (const [owner, line] of this.#lines) {
      const [toolkit] = line.toolkits;
      if (toolkit === undefined || line.notBeforeMs > nowMs) continue;
      this.#lines.delete(owner);
      this.#lines.set(owner, line);
      line.toolkits.delete(toolkit);
      line.toolkits.add(toolkit);
      return { toolkit, pace: line };
    }
    return undefined;
  }

  /** Returns the earliest time of the next turn; undefined if no toolkit waits. */
  nextAtMs(): number | undefined {
    const times = Array.from(this.#lines.values(), ({ notBeforeMs }) => notBeforeMs);
    return times.length === 0 ? undefined : Math.min(...times);
  }
}
