import type { ProjectId } from "@svc/core";

/**
 * The project and the origin (scheme, host and port) of a call. `most`: number of the project's calls that may run at this origin at once.
 */
export type OriginSlot = { readonly projectId: ProjectId; readonly origin: string; readonly most: number };

/**
 * Limits of each project's calls on this node, over all origins together. `underWay`: running calls. `waiting`: calls that wait for a slot.
 */
export type SlotLimits = { readonly underWay: number; readonly waiting: number };

/**
 * Answer to a request for a slot. `slot`: the call may start, and must return the slot afterwards. `crowded`: too many calls wait. `late`:
 * no slot became free in time. `closed`: no more calls are accepted.
 */
export type SlotAnswer =
  | { readonly kind: "slot"; readonly release: () => void }
  | { readonly kind: "crowded" | "late" | "closed" };

type Waiter = { readonly place: OriginSlot; readonly answer: (answer: SlotAnswer) => void };

/**
 * The calls of one project. `underWay`: number of running calls. `atOrigin`: number of running calls by origin. `waiting`: waiting calls in
 * their order.
 */
type ProjectLine = { underWay: number; readonly atOrigin: Map<string, number>; readonly waiting: Set<Waiter> };

/** Slots for calls, separate for each project: one project's calls do not affect another's. */
export class CallSlots {
  readonly #limits: SlotLimits;
  readonly #lines = new Map<ProjectId, ProjectLine>();
  #isClosed = false;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Waits for a slot for up to `waitMs` milliseconds. The promise never rejects. */
  take(place: OriginSlot, waitMs: number): Promise<SlotAnswer> {
    if (this.#isClosed) return Promise.resolve({ kind: "closed" });
    const line = this.#lineOf(place.projectId);
    // A call may start at once if its project has a free slot for the call's origin. It overtakes no call that could start, because the
    // calls that wait have no free slot at their own origins.
    if (this.#hasRoom(line, place)) return Promise.resolve(this.#enter(line, place));
    if (line.waiting.size >= this.#limits.waiting) return Promise.resolve({ kind: "crowded" });
    return new Promise((resolve) => {
      const waiter: Waiter = {
        place,
        answer(answer) {
          clearTimeout(timer);
          line.waiting.delete(waiter);
          resolve(answer);
        },
      };
      const timer = setTimeout(() => waiter.answer({ kind: "late" }), waitMs);
      line.waiting.add(waiter);
    });
  }

  /** Accepts no more calls, and answers waiting calls with `closed`. */
  close(): void {
    this.#isClosed = true;
    for (const { waiting } of this.#lines.values())
      for (const waiter of [...waiting]) waiter.answer({ kind: "closed" });
  }

  #lineOf(projectId: ProjectId): ProjectLine {
    const known = this.#lines.get(projectId);
    if (known !== undefined) return known;
    const line: ProjectLine = { underWay: 0, atOrigin: new Map(), waiting: new Set() };
    this.#lines.set(projectId, line);
    return line;
  }

  #hasRoom({ underWay, atOrigin }: ProjectLine, { origin, most }: OriginSlot): boolean {
    return underWay < this.#limits.underWay && (atOrigin.get(origin) ?? 0) < most;
  }

  #enter(line: ProjectLine, place: OriginSlot): SlotAnswer {
    line.underWay++;
    line.atOrigin.set(place.origin, (line.atOrigin.get(place.origin) ?? 0) + 1);
    let isHeld = true;
    return {
      kind: "slot",
      release: () => {
        if (isHeld) this.#leave(line, place);
        isHeld = false;
      },
    };
  }

  #leave(line: ProjectLine, { projectId, origin }: OriginSlot): void {
    line.underWay--;
    const left = (line.atOrigin.get(origin) ?? 1) - 1;
    if (left > 0) line.atOrigin.set(origin, left);
    else line.atOrigin.delete(origin);
    for (const waiter of line.waiting) {
      if (!this.#hasRoom(line, waiter.place)) continue;
      waiter.answer(this.#enter(line, waiter.place));
      return;
    }
    if (line.underWay === 0 && line.waiting.size === 0) this.#lines.delete(projectId);
  }
}
