import type { ProjectId } from "@svc/core";
import type { GuardedAgent } from "@svc/core/dial";

/** How many agents without a request are kept, in all and of one project. */
export type IdleLimits = { readonly node: number; readonly project: number };

type Entry = { readonly key: string; readonly projectId: ProjectId; readonly agent: GuardedAgent; uses: number };

/** An agent while a request uses it. */
export type AgentUse = { readonly agent: GuardedAgent; readonly release: () => void };

/**
 * One agent per project and origin, so that no two projects share a connection. Those that nobody uses are kept for the next
 * request, up to a bound: the one that has been idle for longest is closed first, and a project of many origins closes its own.
 */
export class OriginAgents {
  readonly #create: () => GuardedAgent;
  readonly #limits: IdleLimits;
  readonly #entries = new Map<string, Entry>();
  /** In the order in which they became idle. */
  readonly #idle = new Set<Entry>();
  readonly #idleOf = new Map<ProjectId, number>();

  constructor(create: () => GuardedAgent, limits: IdleLimits) {
    this.#create = create;
    this.#limits = limits;
  }

  /** How many agents there are, used or idle. */
  get size(): number {
    return this.#entries.size;
  }

  /** The agent of a project for an origin, until it is released. */
  use(projectId: ProjectId, origin: string): AgentUse {
    const key = `${projectId} ${origin}`;
    const entry = this.#entries.get(key) ?? { key, projectId, agent: this.#create(), uses: 0 };
    this.#entries.set(key, entry);
    this.#unidle(entry);
    entry.uses++;
    return { agent: entry.agent, release: () => this.#release(entry) };
  }

  /** Ends every connection. */
  async destroy(): Promise<void> {
    const agents = [...this.#entries.values()].map(({ agent }) => agent);
    this.#entries.clear();
    this.#idle.clear();
    this.#idleOf.clear();
    await Promise.all(agents.map((agent) => agent.destroy()));
  }

  #release(entry: Entry): void {
    entry.uses--;
    if (entry.uses > 0 || this.#entries.get(entry.key) !== entry) return;
    this.#idle.add(entry);
    const own = (this.#idleOf.get(entry.projectId) ?? 0) + 1;
    this.#idleOf.set(entry.projectId, own);
    if (own > this.#limits.project) this.#closeOldest(({ projectId }) => projectId === entry.projectId);
    else if (this.#idle.size > this.#limits.node) this.#closeOldest(() => true);
  }

  #closeOldest(isMeant: (entry: Entry) => boolean): void {
    for (const entry of this.#idle) {
      if (!isMeant(entry)) continue;
      this.#unidle(entry);
      this.#entries.delete(entry.key);
      void entry.agent.destroy();
      return;
    }
  }

  #unidle(entry: Entry): void {
    if (!this.#idle.delete(entry)) return;
    const left = (this.#idleOf.get(entry.projectId) ?? 1) - 1;
    if (left > 0) this.#idleOf.set(entry.projectId, left);
    else this.#idleOf.delete(entry.projectId);
  }
}
