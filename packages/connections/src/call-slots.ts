import type { ProjectId } from "@svc/core";

/** Where a call goes on whose behalf, and how many of the project's may be under way there at once. */
export type OriginSlot = { readonly projectId: ProjectId; readonly origin: string; readonly most: number };

/** Bounds of each project's calls on this node, over all origins. */
export type SlotLimits = { readonly underWay: number; readonly waiting: number };

/** `slot`: the call may go, and gives the slot back. `crowded`: too many wait. `late`: the time was over. `closed`: no call goes any more. */
export type SlotAnswer =
  | { readonly kind: "slot"; readonly release: () => void }
  | { readonly kind: "crowded" | "late" | "closed" };

type Waiter = { readonly place: OriginSlot; readonly answer: (answer: SlotAnswer) => void };

/** One project's calls: how many are under way, in all and at each origin, and those that wait, in the order they came. */
type Line = { underWay: number; readonly atOrigin: Map<string, number>; readonly waiting: Set<Waiter> };

/** Room for calls, project by project: what one project has under way, or waiting, is nothing to another. */
export class CallSlots {
  readonly #limits: SlotLimits;
  readonly #lines = new Map<ProjectId, Line>();
  #isClosed = false;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Waits for a slot for up to `waitMs`. Never rejects. */
  take(place: OriginSlot, waitMs: number): Promise<SlotAnswer> {
    if (this.#isClosed) return Promise.resolve({ kind: "closed" });
    const line = this.#lineOf(place.projectId);
    // Whoever waits does so because there is no room for it, so nobody is overtaken.
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

  /** Lets no call go any more; those that wait are answered. */
  close(): void {
    this.#isClosed = true;
    for (const { waiting } of this.#lines.values())
      for (const waiter of [...waiting]) waiter.answer({ kind: "closed" });
  }

  #lineOf(projectId: ProjectId): Line {
    const known = this.#lines.get(projectId);
    if (known !== undefined) return known;
    const line: Line = { underWay: 0, atOrigin: new Map(), waiting: new Set() };
    this.#lines.set(projectId, line);
    return line;
  }

  #hasRoom({ underWay, atOrigin }: Line, { origin, most }: OriginSlot): boolean {
    return underWay < this.#limits.underWay && (atOrigin.get(origin) ?? 0) < most;
  }

  #enter(line: Line, place: OriginSlot): SlotAnswer {
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

  #leave(line: Line, { projectId, origin }: OriginSlot): void {
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
