/**
 * Queues of waiting tasks, one per project, which are served in turn. So a project with many tasks delays only its own tasks. A new queue
 * is served first once, and then goes to the end of the order. So a project with a single task waits for at most one other task (like the
 * flow queues of RFC 8290).
 */
export class Lines<Waiter> {
  readonly #begun = new Map<string, Waiter[]>();
  /**
   * Queues that had a turn already, in the order of their next turns. An empty queue stays until its turn. Otherwise its project could
   * start a new queue, which is served first.
   */
  readonly #standing = new Map<string, Waiter[]>();
  #count = 0;

  /** True if no task waits in any of the queues. */
  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Adds a waiting task to the end of the queue `line`. */
  add(line: string, waiter: Waiter): void {
    this.#count++;
    const waiting = this.#begun.get(line) ?? this.#standing.get(line);
    if (waiting === undefined) this.#begun.set(line, [waiter]);
    else waiting.push(waiter);
  }

  /** Returns the first task of the next queue in turn, and removes it. Undefined if no task is waiting. */
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
