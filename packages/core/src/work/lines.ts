/**
 * Lines of those who wait, one for each project, served in turn: whoever has many waiting waits for none but its own. A line that
 * begins goes first, once, and then stands behind the others: who comes now and then waits for one, not for all (as the flow
 * queues of RFC 8290 do).
 */
export class Lines<Waiter> {
  readonly #begun = new Map<string, Waiter[]>();
  /** In the order of their turns. An empty one stays until its turn, or leaving and coming back would be a way to the front. */
  readonly #standing = new Map<string, Waiter[]>();
  #count = 0;

  /** Whether nobody waits. */
  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Stands at the end of a line. */
  add(line: string, waiter: Waiter): void {
    this.#count++;
    const waiting = this.#begun.get(line) ?? this.#standing.get(line);
    if (waiting === undefined) this.#begun.set(line, [waiter]);
    else waiting.push(waiter);
  }

  /** The first of the line whose turn it is. Undefined when nobody waits. */
  next(): Waiter | undefined {
    const [first] = this.#begun.size > 0 ? this.#begun : this.#standing;
    if (first === undefined) return undefined;
    const [line, waiting] = first;
    const isNew = this.#begun.delete(line);
    if (!isNew) this.#standing.delete(line);
    const waiter = waiting.shift();
    if (waiter === undefined) return this.next();
    this.#standing.set(line, waiting);
    this.#count--;
    return waiter;
  }
}
