import type { ProjectId } from "@svc/core";

/**
 * The places of a node for work that is under way, and which project has how many. With n projects at work the (n + 1)th part is each
 * one's share, at least one place; a lone project gets everything but one place, which a newcomer finds free.
 */
export class Places {
  readonly #max: number;
  readonly #used = new Map<ProjectId, number>();
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  get free(): number {
    return this.#max - this.#taken;
  }

  /** How many a project may have now. */
  get share(): number {
    const projects = this.#used.size;
    return Math.max(1, projects <= 1 ? this.#max - 1 : Math.floor(this.#max / (projects + 1)));
  }

  /** Projects that have their share. */
  fullProjects(): ReadonlySet<ProjectId> {
    const { share } = this;
    return new Set([...this.#used].filter(([, count]) => count >= share).map(([id]) => id));
  }

  /** Whether a project may have one more. */
  hasRoomFor(project: ProjectId): boolean {
    return this.free > 0 && (this.#used.get(project) ?? 0) < this.share;
  }

  take(project: ProjectId): void {
    this.#taken += 1;
    this.#used.set(project, (this.#used.get(project) ?? 0) + 1);
  }

  leave(project: ProjectId): void {
    this.#taken -= 1;
    const left = (this.#used.get(project) ?? 0) - 1;
    if (left > 0) this.#used.set(project, left);
    else this.#used.delete(project);
  }
}
