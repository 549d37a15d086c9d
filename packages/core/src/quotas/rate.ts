/** Usage of a rate: a bucket for one second that refills over time. The rate may change from one use to the next. */
export class Rate {
  #tokens = Number.POSITIVE_INFINITY;
  #atMs = 0;
  #second = 0;
  #count = 0;
  #before = 0;

  /** Takes one. Returns undefined if one was available; otherwise the milliseconds until then, and takes nothing. */
  take(perSecond: number, nowMs: number): number | undefined {
    if (this.#fill(perSecond, nowMs) < 1) return Math.ceil(((1 - this.#tokens) * 1000) / perSecond);
    this.#tokens -= 1;
    this.#note(nowMs);
    return undefined;
  }

  /** True if one is available. */
  hasRoom(perSecond: number, nowMs: number): boolean {
    return this.#fill(perSecond, nowMs) >= 1;
  }

  /** Takes one even if none is available: the debt is at most one second's worth. */
  charge(perSecond: number, nowMs: number): void {
    this.#tokens = Math.max(-perSecond, this.#fill(perSecond, nowMs) - 1);
    this.#note(nowMs);
  }

  /** Returns the number taken in the last whole second. */
  used(nowMs: number): number {
    const second = Math.floor(nowMs / 1000);
    if (second === this.#second) return this.#before;
    return second === this.#second + 1 ? this.#count : 0;
  }

  /** Adds nothing if time runs backwards, as after a correction of the node's clock. */
  #fill(perSecond: number, nowMs: number): number {
    if (perSecond === Number.POSITIVE_INFINITY) {
      this.#atMs = nowMs;
      this.#tokens = perSecond;
      return perSecond;
    }
    const more = (Math.max(0, nowMs - this.#atMs) * perSecond) / 1000;
    this.#atMs = nowMs;
    // At least one, so that a rate below one per second lets something through.
    this.#tokens = Math.min(Math.max(1, perSecond), this.#tokens + more);
    return this.#tokens;
  }

  #note(nowMs: number): void {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) {
      this.#before = second === this.#second + 1 ? this.#count : 0;
      this.#second = second;
      this.#count = 0;
    }
    this.#count++;
  }
}
