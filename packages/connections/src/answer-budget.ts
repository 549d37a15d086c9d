import type { ProjectId } from "@svc/core";

/** Bytes of answers that a node holds at once, in all and for one project. */
export type AnswerBudgetLimits = { readonly nodeBytes: number; readonly projectBytes: number };

/** What one answer holds of the budget. */
export type AnswerAllowance = {
  /** Sets bytes aside. False when they do not fit now: `onGranted` is called when they do, unless the allowance ends before. */
  take(bytes: number, onGranted: () => void): boolean;
  /** Gives back all that was taken, and waits for nothing any more. */
  end(): void;
};

type Waiting = { readonly bytes: number; readonly projectId: ProjectId; readonly grant: () => void };

/** The memory that answers of apps may take while they are received. Who waits is served in turn; a full project holds up only itself. */
export class AnswerBudget {
  readonly #limits: AnswerBudgetLimits;
  readonly #heldBy = new Map<ProjectId, number>();
  readonly #waiting = new Set<Waiting>();
  #held = 0;

  constructor(limits: AnswerBudgetLimits) {
    this.#limits = limits;
  }

  /** Bytes that are set aside now. */
  get held(): number {
    return this.#held;
  }

  /** An answer's part of the budget, of which it has nothing yet. */
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
