import type { ProjectId } from "@svc/core";

/** What projects did since the last look, by project: those that are told apart, and all the others as one. */
export type ReportedUse = ReadonlyMap<string, readonly number[]>;

/** How many projects are told apart; the rest is `other`. */
const namedMax = 20;
/** What a project did before counts half as much at each look as what it did since. */
const forgetting = 0.5;
/** A newcomer takes a place when it does this much more than who has it: names that come and go are of no use in a graph. */
const lead = 2;

/** A project's figures, each of which only grows; the first says how much it does. */
export type Figures = readonly [use: number, ...others: number[]];

/**
 * Tells the projects apart that do most, so that a metric has few labels however many there are. Each look answers what was done
 * since the one before, so what is counted with it only grows, also where a project's place goes to another.
 */
export class TopProjects {
  readonly #before = new Map<ProjectId, Figures>();
  readonly #use = new Map<ProjectId, number>();
  #told: ReadonlySet<ProjectId> = new Set();

  /** Who is told apart now. */
  get named(): ReadonlySet<ProjectId> {
    return this.#told;
  }

  /** What was done since the last look. Whoever is told apart anew begins with it. */
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
