/** How much of a rate is used: a bucket of one second's worth that fills as time goes by. Its rate may change from one use to the next. */
export class Rate {
  #tokens = Number.POSITIVE_INFINITY;
  #atMs = 0;
  #second = 0;
  #count = 0;
  #before = 0;

  /** Takes one. Undefined when there was one; else the milliseconds until there will be, and nothing is taken. */
  take(perSecond: number, nowMs: number): number | undefined {
    if (this.#fill(perSecond, nowMs) < 1) return Math.ceil(((1 - this.#tokens) * 1000) / perSecond);
    this.#tokens -= 1;
    this.#note(nowMs);
    return undefined;
  }

  /** Whether one could be taken. */
  hasRoom(perSecond: number, nowMs: number): boolean {
    return this.#fill(perSecond, nowMs) >= 1;
  }

  /** Takes one whether it is there or not: what is taken beyond is owed, a second's worth at most. */
  charge(perSecond: number, nowMs: number): void {
    this.#tokens = Math.max(-perSecond, this.#fill(perSecond, nowMs) - 1);
    this.#note(nowMs);
  }

  /** What was taken in the last whole second. */
  used(nowMs: number): number {
    const second = Math.floor(nowMs / 1000);
    if (second === this.#second) return this.#before;
    return second === this.#second + 1 ? this.#count : 0;
  }

  /** Time that runs backwards, as a node's does when it is set right, adds nothing. */
  #fill(perSecond: number, nowMs: number): number {
    if (perSecond === Number.POSITIVE_INFINITY) {
      this.#atMs = nowMs;
      this.#tokens = perSecond;
      return perSecond;
    }
    const more = (Math.max(0, nowMs - this.#atMs) * perSecond) / 1000;
    this.#atMs = nowMs;
    // At least one, so that a rate below one a second lets something through.
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
