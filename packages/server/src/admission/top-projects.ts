import type { ProjectId } from "@svc/core";

/** Projects' activity since the last count: by name for the most active ones, all others as one. */
export type ReportedUse = ReadonlyMap<string, readonly number[]>;

/** Maximum number of named projects; the rest is `other`. */
const namedMax = 20;
/** Factor for a project's earlier activity at each count. */
const forgetting = 0.5;
/** Factor by which a new project must exceed a named one to replace it. Frequent changes of names would make graphs useless. */
const lead = 2;

/** A project's counts, which only grow. The first measures its activity. */
export type Figures = readonly [use: number, ...others: number[]];

/**
 * Names the most active projects, so that a metric has few labels for any number of projects. Each count returns the activity since the one
 * before, so sums only grow, even if a project is replaced.
 */
export class TopProjects {
  readonly #before = new Map<ProjectId, Figures>();
  readonly #use = new Map<ProjectId, number>();
  #told: ReadonlySet<ProjectId> = new Set();

  /** Currently named projects. */
  get named(): ReadonlySet<ProjectId> {
    return this.#told;
  }

  /** Returns the activity since the last count. A newly named project starts with that. */
  look(figures: Iterable<readonly [ProjectId, Figures]>): ReportedUse {
    const deltas: [ProjectId, number[]][] = [];
    for (const [id, now] of figures) {
      const before = this.#before.get(id);
      this.#before.set(id, now);
      const delta = now.map((figure, index) => figure - (before?.[index] ?? 0));
      this.#use.set(id, (this.#use.get(id) ?? 0) * forgetting + (delta[0] ?? 0));
      deltas.push([id, delta]);
    }
    this.#choose();
    const named = new Map<string, number[]>();
    for (const [id, delta] of deltas) {
      const label = this.#told.has(id) ? id : "other";
      const sums = named.get(label) ?? delta.map(() => 0);
      named.set(
        label,
        sums.map((sum, index) => sum + (delta[index] ?? 0)),
      );
    }
    return named;
  }

  #choose(): void {
    const weight = ([id, use]: readonly [ProjectId, number]) => (this.#told.has(id) ? use * lead : use);
    const ranked = [...this.#use].filter(([, use]) => use > 0).sort((a, b) => weight(b) - weight(a));
    this.#told = new Set(ranked.slice(0, namedMax).map(([id]) => id));
  }
}
