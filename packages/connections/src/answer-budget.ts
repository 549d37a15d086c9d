import type { ProjectId } from "@svc/core";

/**
 * Maximum bytes of apps' answers that a node holds in memory at the same time. `nodeBytes`: for all projects together. `projectBytes`: for
 * one project.
 */
export type AnswerBudgetLimits = { readonly nodeBytes: number; readonly projectBytes: number };

/** Memory that one answer of an app has reserved from the node's budget. */
export type AnswerAllowance = {
  /**
   * Reserves memory for `bytes` bytes of an app's answer. Returns true if they are reserved now. Otherwise returns false, and calls
   * `onGranted` when they are reserved. After `end`, `onGranted` is not called.
   */
  take(bytes: number, onGranted: () => void): boolean;
  /** Releases all reserved bytes of this answer, and stops waiting for more. */
  end(): void;
};

type Waiting = { readonly bytes: number; readonly projectId: ProjectId; readonly grant: () => void };

/**
 * Limits the memory for answers of apps while they are received. Answers that wait get memory in order. A project at its limit does not
 * delay other projects.
 */
export class AnswerBudget {
  readonly #limits: AnswerBudgetLimits;
  readonly #heldBy = new Map<ProjectId, number>();
  readonly #waiting = new Set<Waiting>();
  #held = 0;

  constructor(limits: AnswerBudgetLimits) {
    this.#limits = limits;
  }

  /** Bytes of memory that are reserved now for answers of apps on this node. */
  get held(): number {
    return this.#held;
  }

  /** Opens the memory allowance for one answer of an app. No bytes are reserved at first. */
  open(projectId: ProjectId): AnswerAllowance {
    let taken = 0;
    let waiting: Waiting | undefined;
    const take = (bytes: number) => {
      this.#add(projectId, bytes);
      taken += bytes;
    };
    return {
      take: (bytes, onGranted) => {
        if (this.#fits(projectId, bytes)) {
          take(bytes);
          return true;
        }
        waiting = {
          bytes,
          projectId,
          grant() {
            waiting = undefined;
            take(bytes);
            onGranted();
          },
        };
        this.#waiting.add(waiting);
        return false;
      },
      end: () => {
        if (waiting !== undefined) this.#waiting.delete(waiting);
        waiting = undefined;
        if (taken === 0) return;
        this.#add(projectId, -taken);
        taken = 0;
        this.#grantWaiting();
      },
    };
  }

  #fits(projectId: ProjectId, bytes: number): boolean {
    const { nodeBytes, projectBytes } = this.#limits;
    return this.#held + bytes <= nodeBytes && (this.#heldBy.get(projectId) ?? 0) + bytes <= projectBytes;
  }

  #add(projectId: ProjectId, bytes: number): void {
    this.#held += bytes;
    const held = (this.#heldBy.get(projectId) ?? 0) + bytes;
    if (held === 0) this.#heldBy.delete(projectId);
    else this.#heldBy.set(projectId, held);
  }

  #grantWaiting(): void {
    for (const waiting of this.#waiting) {
      if (!this.#fits(waiting.projectId, waiting.bytes)) continue;
      this.#waiting.delete(waiting);
      waiting.grant();
    }
  }
}
