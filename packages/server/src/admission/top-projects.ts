import type { ProjectId } from "@svc/core";

/**
 * Activity of projects since the previous count. Keys: the ids of the most active projects, and `other` for all other projects together.
 * Values: one number for each kind of activity.
 */
export type ReportedUse = ReadonlyMap<string, readonly number[]>;

/** Maximum number of projects that a metric shows by name. All other projects are shown together as `other`. */
const namedMax = 20;
/**
 * Each time the activity of projects is counted, a project's earlier activity is multiplied by this factor. Recent activity therefore
 * counts more.
 */
const forgetting = 0.5;
/**
 * Factor that decides when a project replaces another among the named projects of a metric. The new project must be this many times as
 * active. If the names changed often, graphs would be useless.
 */
const lead = 2;

/** Numbers about one project's activity, which only grow. The first number decides which projects a metric shows by name. */
export type Figures = readonly [use: number, ...others: number[]];

/**
 * Chooses the most active projects, so that a metric has few labels even if there are many projects. Each count returns only the activity
 * since the previous count. So the sums in the metric never fall, even if a project loses its label to another project.
 */
export class TopProjects {
  readonly #before = new Map<ProjectId, Figures>();
  readonly #use = new Map<ProjectId, number>();
  #told: ReadonlySet<ProjectId> = new Set();

  /** The projects that have their own label in svc's metrics. All other projects share the label `other`. */
  get named(): ReadonlySet<ProjectId> {
    return this.#told;
  }

  /**
   * Returns the activity of the projects since the previous call of this function. Activity of a project without its own label is added to
   * the label `other`. `figures`: the counts of each project since the start.
   */
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
