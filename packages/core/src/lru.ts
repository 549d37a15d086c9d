/**
 * A map of at most `countMax` entries. When it is full, a new entry replaces the one that was not read or written for the longest time.
 * `undefined` cannot be stored as a value.
 */
export class LeastRecentlyUsed<Key, Value> {
  readonly #entries = new Map<Key, Value>();
  readonly #countMax: number;
  readonly #onEvict: (value: Value) => void;
  /**
   * Key of the entry that was used last, if it still exists. This entry is already at the end of the order of use, so a new use moves
   * nothing.
   */
  #latest: Key | undefined;

  constructor(countMax: number, onEvict: (value: Value) => void = () => {}) {
    this.#countMax = countMax;
    this.#onEvict = onEvict;
  }

  /** Returns the value of a key and marks its entry as used. */
  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value === undefined || key === this.#latest) return value;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#latest = key;
    return value;
  }

  set(key: Key, value: Value): void {
    const held = this.#entries.get(key);
    if (held !== undefined) {
      this.#entries.delete(key);
      this.#onEvict(held);
    }
    this.#entries.set(key, value);
    this.#latest = key;
    if (this.#entries.size > this.#countMax) this.evict();
  }

  /** Removes the entry with this key. Calls the map's function `onEvict` with the removed value. Does nothing if there is no such entry. */
  delete(key: Key): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#entries.delete(key);
    this.#onEvict(value);
  }

  /** Removes the least recently used entry. Returns false if the map is empty. */
  evict(): boolean {
    const [oldest] = this.#entries;
    if (oldest === undefined) return false;
    this.#entries.delete(oldest[0]);
    this.#onEvict(oldest[1]);
    return true;
  }

  /** Returns the least recently used value without marking it as used. */
  oldest(): Value | undefined {
    const [oldest] = this.#entries.values();
    return oldest;
  }

  /** Returns all values, least recently used first. */
  values(): IterableIterator<Value> {
    return this.#entries.values();
  }

  /** Returns all entries of the cache, least recently used first. */
  entries(): IterableIterator<[Key, Value]> {
    return this.#entries.entries();
  }
}
