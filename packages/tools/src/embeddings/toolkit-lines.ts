import type { Toolkit } from "@svc/catalog";

/** Owner of the toolkits in one line: a project, or the shared catalog. */
type Owner = Toolkit["ownerProjectId"];

/** Earliest time of the next turn, and number of consecutive failures. */
export type LinePace = { failures: number; notBeforeMs: number };

type Line = LinePace & { readonly toolkits: Set<Toolkit> };

/** Pause after failures, milliseconds: the first one, doubled with each consecutive failure up to the maximum. */
const pause = { firstMs: 5_000, maxMs: 300_000 };

/** Delays a pace after a failure, longer each time until a success. */
export function slowDown(pace: LinePace, nowMs: number): void {
  pace.notBeforeMs = nowMs + Math.min(pause.maxMs, pause.firstMs * 2 ** pace.failures++);
}

/**
 * Toolkits that wait for vectors, one line per owner. Owners take turns, and a failure delays only its owner. Many toolkits, or ones that
 * the endpoint refuses, thus do not delay other owners.
 */
export class ToolkitLines {
  readonly #countMax: number;
  /** Ordered by the last turn. */
  readonly #lines = new Map<Owner, Line>();

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /**
   * Adds a toolkit. Returns false if it already waits; its position stays. If the maximum is exceeded, the first toolkit of the longest
   * line is dropped.
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

  /** Removes a toolkit that has its vectors or is no longer needed. */
  remove(toolkit: Toolkit): void {
    const line = this.#lines.get(toolkit.ownerProjectId);
    line?.toolkits.delete(toolkit);
    if (line?.toolkits.size === 0) this.#lines.delete(toolkit.ownerProjectId);
  }

  /** Returns the next toolkit and the pace of its owner, and moves the owner to the end. Undefined if no owner may have a turn now. */
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

  /** Returns the time of the next possible turn; undefined if nothing waits. */
  nextAtMs(): number | undefined {
    const times = Array.from(this.#lines.values(), ({ notBeforeMs }) => notBeforeMs);
    return times.length === 0 ? undefined : Math.min(...times);
  }
}
