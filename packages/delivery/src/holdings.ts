import type { ResolvedLimits } from "./limits.ts";
import type { OutgoingDelivery } from "./outgoing.ts";

/** What a node holds: every delivery from when it is taken on until it is recorded or given back. Bounded in number and bytes. */
export class Holdings {
  readonly #limits: Pick<ResolvedLimits, "heldMax" | "heldBytesMax">;
  #bytes = 0;
  #whenEmpty: (() => void)[] = [];
  /** Deliveries held. */
  count = 0;

  constructor(limits: Pick<ResolvedLimits, "heldMax" | "heldBytesMax">) {
    this.#limits = limits;
  }

  /** Deliveries that can still be taken on; what paced replays queued (`behind`) may fill half of what a node holds. */
  free(behind = false): number {
    const { heldMax, heldBytesMax } = this.#limits;
    if (this.#bytes >= heldBytesMax) return 0;
    return Math.max(0, heldMax - (behind ? Math.floor(heldMax / 2) : 0) - this.count);
  }

  take(delivery: OutgoingDelivery): void {
    this.count++;
    this.#bytes += delivery.body.byteLength;
  }

  letGo(delivery: OutgoingDelivery): void {
    this.count--;
    this.#bytes -= delivery.body.byteLength;
    if (this.count === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  /** Resolves once nothing is held. */
  empty(): Promise<void> {
    if (this.count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenEmpty.push(resolve);
    });
  }
}
