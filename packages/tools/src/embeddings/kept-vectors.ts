import type { ProjectId } from "@svc/core";
import type { Vector } from "./vector.ts";

/**
 * Vectors of what projects searched for, each project's own: how soon a search is answered tells nobody what others searched for. One more than
 * `countMax` takes the place of the least recently used one of the project that has most.
 */
export class KeptVectors {
  readonly #countMax: number;
  readonly #ofProjects = new Map<ProjectId, Map<string, Vector>>();
  #count = 0;

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** The vector, which counts as used by that. */
  get(projectId: ProjectId, text: string): Vector | undefined {
    const own = this.#ofProjects.get(projectId);
    const vector = own?.get(text);
    if (own === undefined || vector === undefined) return undefined;
    own.delete(text);
    own.set(text, vector);
    return vector;
  }

  set(projectId: ProjectId, text: string, vector: Vector): void {
    const own = this.#ofProjects.get(projectId) ?? new Map<string, Vector>();
    this.#ofProjects.set(projectId, own);
    if (!own.delete(text)) this.#count++;
    own.set(text, vector);
    if (this.#count > this.#countMax) this.#evict();
  }

  #evict(): void {
    let most: readonly [ProjectId, Map<string, Vector>] | undefined;
    for (const entry of this.#ofProjects) if (entry[1].size > (most?.[1].size ?? 0)) most = entry;
    const [oldest] = most?.[1].keys() ?? [];
    if (most === undefined || oldest === undefined) return;
    most[1].delete(oldest);
    this.#count--;
    if (most[1].size === 0) this.#ofProjects.delete(most[0]);
  }
}
