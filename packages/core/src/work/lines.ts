/**
 * Queues of waiting tasks, one per project, served in turn, so that many tasks of one project delay only that project. A new queue is
 * served first, once, and then goes to the end. So an occasional task waits for one other, not for all (like the flow queues of RFC 8290).
 */
export class Lines<Waiter> {
  readonly #begun = new Map<string, Waiter[]>();
  /** In the order of their turns. An empty queue stays until its turn; otherwise leaving and returning would move it to the front. */
  readonly #standing = new Map<string, Waiter[]>();
  #count = 0;

  /** True if nothing waits. */
  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Adds to the end of a queue. */
  add(line: string, waiter: Waiter): void {
    this.#count++;
    const waiting = this.#begun.get(line) ?? this.#standing.get(line);
    if (waiting === undefined) this.#begun.set(line, [waiter]);
    else waiting.push(waiter);
  }

  /** Returns the first of the queue whose turn it is. Undefined if nothing waits. */
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
