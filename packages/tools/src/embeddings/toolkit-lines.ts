import type { Toolkit } from "@svc/catalog";

/** Whose toolkits wait in one line: a project's own, or those that are shared. */
type Owner = Toolkit["ownerProjectId"];

/** When who waits may have the next turn, and how many failed in a row. */
export type LinePace = { failures: number; notBeforeMs: number };

type Line = LinePace & { readonly toolkits: Set<Toolkit> };

/** Of failures in a row: the first pause, which doubles up to the most, milliseconds. */
const pause = { firstMs: 5_000, maxMs: 300_000 };

/** Makes a pace wait after a failure: longer each time, until a turn goes well. */
export function slowDown(pace: LinePace, nowMs: number): void {
  pace.notBeforeMs = nowMs + Math.min(pause.maxMs, pause.firstMs * 2 ** pace.failures++);
}

/**
 * Toolkits that wait for vectors, a line for each owner. Owners take turns, and what is refused of one makes that one wait: neither many toolkits nor
 * such that the endpoint does not take keep another's from theirs.
 */
export class ToolkitLines {
  readonly #countMax: number;
  /** In the order of their last turns. */
  readonly #lines = new Map<Owner, Line>();

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** Adds a toolkit; false for one that waits, which keeps its place. One too many takes the place of the first one in the longest line. */
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

  /** Takes one out that has its vectors, or is wanted no more. */
  remove(toolkit: Toolkit): void {
    const line = this.#lines.get(toolkit.ownerProjectId);
    line?.toolkits.delete(toolkit);
    if (line?.toolkits.size === 0) this.#lines.delete(toolkit.ownerProjectId);
  }

  /** The toolkit whose turn it is, which comes last from then on, and the pace of its owner. Undefined where nobody may have a turn now. */
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

  /** When somebody may have a turn; undefined where nobody waits. */
  nextAtMs(): number | undefined {
    const times = Array.from(this.#lines.values(), ({ notBeforeMs }) => notBeforeMs);
    return times.length === 0 ? undefined : Math.min(...times);
  }
}
