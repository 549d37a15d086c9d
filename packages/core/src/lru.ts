/** A map that keeps at most `countMax` entries and lets go of the one least recently read or written. `undefined` is no value. */
export class LeastRecentlyUsed<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #countMax: number;
  readonly #onEvict: (value: Value) => void;

  constructor(countMax: number, onEvict: (value: Value) => void = () => {}) {
    this.#countMax = countMax;
    this.#onEvict = onEvict;
  }

  /** The value, which counts as used by that. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: Key, value: Value): void {
    const held = this.#entries.get(key);
    if (held !== undefined) {
      this.#entries.delete(key);
      this.#onEvict(held);
    }
    this.#entries.set(key, value);
    if (this.#entries.size > this.#countMax) this.evict();
  }

  /** Takes an entry out; what is taken out counts as let go of. */
  delete(key: Key): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#onEvict(value);
  }

  /** Lets go of the least recently used entry. False when there is none. */
  evict(): boolean {
    const [oldest] = this.#entries;
    if (oldest === undefined) return false;
    this.#entries.delete(oldest[0]);
    this.#onEvict(oldest[1]);
    return true;
  }

  /** The least recently used value, which does not count as used by that. */
  oldest(): Value | undefined {
    const [oldest] = this.#entries.values();
    return oldest;
  }

  /** Every value, the least recently used first. */
  values(): IterableIterator<Value> {
    return this.#entries.values();
  }

  /** Every entry, the least recently used first. */
  entries(): IterableIterator<[Key, Value]> {
    return this.#entries.entries();
  }
}
