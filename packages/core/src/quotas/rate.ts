/**
 * The used part of a rate (number of uses per second), counted as a token bucket. Each use takes one token. Tokens are added over time,
 * until the bucket has as many as the rate allows per second. The rate may change between two uses.
 */
export class Rate {
  #tokens = Number.POSITIVE_INFINITY;
  #atMs = 0;
  #second = 0;
  #count = 0;
  #before = 0;

  /**
   * Takes one token from the token bucket (one use of a rate limit). Returns undefined if a token was available. Otherwise takes nothing
   * and returns the milliseconds until the next token.
   */
  take(perSecond: number, nowMs: number): number | undefined {
    if (this.#fill(perSecond, nowMs) < 1) return Math.ceil(((1 - this.#tokens) * 1000) / perSecond);
    this.#tokens -= 1;
    this.#note(nowMs);
    return undefined;
  }

  /**
   * True if the rate allows one more use now, so that `take` would succeed. False if the caller must wait. The rate is a token bucket: each
   * use takes one token.
   */
  hasRoom(perSecond: number, nowMs: number): boolean {
    return this.#fill(perSecond, nowMs) >= 1;
  }

  /** Takes one token, even if none is available. The missing tokens (the debt) are at most those of one second. */
  charge(perSecond: number, nowMs: number): void {
    this.#tokens = Math.max(-perSecond, this.#fill(perSecond, nowMs) - 1);
    this.#note(nowMs);
  }

  /** Returns how often the rate was used in the last complete second. Each use took one token. */
  used(nowMs: number): number {
    const second = Math.floor(nowMs / 1000);
    if (second === this.#second) return this.#before;
    return second === this.#second + 1 ? this.#count : 0;
  }

  /**
   * Adds the tokens for the time since the last call. Adds nothing if time went backwards, for example after a correction of the node's
   * clock.
   */
  #fill(perSecond: number, nowMs: number): number {
    if (perSecond === Number.POSITIVE_INFINITY) {
      this.#atMs = nowMs;
      this.#tokens = perSecond;
      return perSecond;
    }
    const more = (Math.max(0, nowMs - this.#atMs) * perSecond) / 1000;
    this.#atMs = nowMs;
    // The bucket can hold at least one token. Otherwise, a rate below one per second would never allow anything.
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
