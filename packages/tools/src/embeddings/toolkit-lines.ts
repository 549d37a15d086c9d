import type { Toolkit } from "@svc/catalog";

/**
 * Owner of the toolkits (apps with their tools) in one queue for the embeddings endpoint: the id of a project, or a value for the shared
 * catalog.
 */
type Owner = Toolkit["ownerProjectId"];

/**
 * Progress of one queue of toolkits (apps) whose texts are sent to the embeddings endpoint. `failures`: number of failures in a row.
 * `notBeforeMs`: time before which nothing of this queue is sent, in epoch milliseconds.
 */
export type LinePace = { failures: number; notBeforeMs: number };

type Line = LinePace & { readonly toolkits: Set<Toolkit> };

/**
 * Pause in milliseconds after a failed request for vectors of tools (embeddings), before the next request for the same project or for the
 * shared catalog. `firstMs`: first pause. It doubles with each consecutive failure, up to `maxMs`.
 */
const pause = { firstMs: 5_000, maxMs: 300_000 };

/**
 * Delays the next request for vectors of an owner (a project or the shared catalog) after a failed request. The delay doubles with each
 * failure in a row.
 */
export function slowDown(pace: LinePace, nowMs: number): void {
  pace.notBeforeMs = nowMs + Math.min(pause.maxMs, pause.firstMs * 2 ** pace.failures++);
}

/**
 * Toolkits (apps) that wait for the search vectors of their tools, in one queue for each owner (a project or the shared catalog). Owners
 * take turns, so an owner with many toolkits does not delay the others. If the endpoint refuses an owner's texts, only this owner is
 * delayed.
 */
export class ToolkitLines {
  readonly #countMax: number;
  /**
   * The queues of texts that wait for vectors (embeddings), by owner (a project or the shared catalog). The owner that has waited longest
   * for its turn is first.
   */
  readonly #lines = new Map<Owner, Line>();

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /**
   * Adds a toolkit (app) to its owner's queue and returns true. Returns false if the toolkit is already waiting; it keeps its position. If
   * too many toolkits wait, the first toolkit of the longest queue is dropped.
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

  /**
   * Removes a toolkit (app) from its owner's queue. Call it when every tool of the toolkit has a vector, or when the vectors are not needed
   * any more.
   */
  remove(toolkit: Toolkit): void {
    const line = this.#lines.get(toolkit.ownerProjectId);
    line?.toolkits.delete(toolkit);
    if (line?.toolkits.size === 0) this.#lines.delete(toolkit.ownerProjectId);
  }

  /**
   * Returns the next toolkit whose tools need vectors, and moves the toolkit's owner (a project or the shared catalog) to the end of the
   * queue. `pace`: how often requests for this owner failed in a row, and the earliest time of the next request. Returns undefined if every
   * owner must still wait.
   */
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

  /**
   * Returns the earliest time at which search vectors of a waiting toolkit (app) may be requested. Returns undefined if no toolkit waits.
   */
  nextAtMs(): number | undefined {
    const times = Array.from(this.#lines.values(), ({ notBeforeMs }) => notBeforeMs);
    return times.length === 0 ? undefined : Math.min(...times);
  }
}
