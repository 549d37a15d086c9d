/** Options of a batcher, which combines single items (for example rows to insert) into batches. */
export type BatcherOptions<Item, Result> = {
  /** Processes all items of a batch together. Resolves with one result per item, in the order of the items. */
  run(items: readonly Item[]): Promise<readonly Result[]>;
  /** Maximum number of items in one batch, for example rows of one insert. */
  sizeMax: number;
  /**
   * Limit on the total weight of a batch. `of`: returns the weight of an item. `max`: maximum total; a single item may weigh more and is
   * then alone in its batch. Default: no limit.
   */
  weight?: { readonly max: number; of(item: Item): number };
  /** Maximum number of batches that run at the same time. */
  concurrency: number;
  /** Maximum number of items that may wait. If there would be more, `add` rejects with OverloadedError. Default: no limit. */
  waitingMax?: number;
  /** Minimum number of waiting items for which another batch starts while one is running. Default 1. */
  besideMin?: number;
  /**
   * Delay that makes batches larger under load. If the previous batch had `fromSize` items or more, the next batch starts after `ms`
   * milliseconds, or as soon as it is full. Default: no delay.
   */
  linger?: { ms: number; fromSize: number };
  /**
   * Called with the error of a failed batch of items. Returns true to try each half of the batch alone, so that in the end only the bad
   * item fails. Returns false to fail all of its items. Default: false.
   */
  splits?(error: unknown): boolean;
};

/** Combines single items into batches. Items that arrive while a batch runs wait, and go together into the next batch. */
export type Batcher<Item, Result> = {
  /**
   * Adds an item and resolves with its result. If its batch fails, rejects with the batch's error. If failed batches are split into halves,
   * rejects with the error of the smallest batch that still contained the item.
   */
  add(item: Item): Promise<Result>;
  /** Resolves when no item is waiting or running. */
  idle(): Promise<void>;
  /** Returns the number of items that wait or are being processed. */
  size(): number;
};

/** Error for a new item when too many items wait. The batches are then too slow or hang. The caller should try again later. */
export class OverloadedError extends Error {
  override name = "OverloadedError";

  constructor(waiting: number) {
    super(`${waiting} items wait already`);
  }
}

type BatchEntry<Item, Result> = { item: Item; resolve(result: Result): void; reject(error: unknown): void };

/**
 * Creates a batcher. A new item waits while a batch is running. Otherwise the item starts a batch at once, or after the delay of `linger`.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const { linger, besideMin = 1, waitingMax = Number.POSITIVE_INFINITY } = options;
  let waiting: BatchEntry<Item, Result>[] = [];
  let running = 0;
  let underWay = 0;
  let isScheduled = false;
  let timer: NodeJS.Timeout | undefined;
  let lastSize = 0;
  const idleWaiters: (() => void)[] = [];

  const schedule = () => {
    if (isScheduled || running >= options.concurrency || waiting.length < (running === 0 ? 1 : besideMin)) return;
    isScheduled = true;
    if (linger === undefined || lastSize < linger.fromSize || waiting.length >= options.sizeMax) setImmediate(start);
    else timer = setTimeout(start, linger.ms);
  };
  const start = () => {
    isScheduled = false;
    timer = undefined;
    if (waiting.length === 0) return;
    const size = Math.min(options.sizeMax, lightest(waiting, options.weight));
    const batch = waiting.length <= size ? waiting : waiting.slice(0, size);
    waiting = batch === waiting ? [] : waiting.slice(size);
    lastSize = batch.length;
    running++;
    underWay += batch.length;
    void runBatch(options, batch).then(() => {
      running--;
      underWay -= batch.length;
      if (running === 0 && waiting.length === 0) for (const wake of idleWaiters.splice(0)) wake();
      schedule();
    });
    schedule();
  };
  /** Starts a delayed batch before its delay is over, because it is full. */
  const flush = () => {
    clearTimeout(timer);
    start();
  };
  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= waitingMax) return reject(new OverloadedError(waiting.length));
        waiting.push({ item, resolve, reject });
        if (timer !== undefined && waiting.length >= options.sizeMax) flush();
        else schedule();
      }),
    idle: () =>
      running === 0 && waiting.length === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            idleWaiters.push(resolve);
          }),
    size: () => waiting.length + underWay,
  };
}

/**
 * Returns how many of the first waiting items fit into one batch. The sum of their weights must not exceed the maximum. Returns at least
 * one.
 */
function lightest<Item>(
  waiting: readonly { readonly item: Item }[],
  weight: BatcherOptions<Item, unknown>["weight"],
): number {
  if (weight === undefined) return waiting.length;
  let sum = 0;
  const over = waiting.findIndex(({ item }) => {
    sum += weight.of(item);
    return sum > weight.max;
  });
  return over === -1 ? waiting.length : Math.max(1, over);
}

/** Runs a batch and passes each entry its own result or error. Never rejects. */
async function runBatch<Item, Result>(
  options: BatcherOptions<Item, Result>,
  batch: BatchEntry<Item, Result>[],
): Promise<void> {
  try {
    const results = await options.run(batch.map((entry) => entry.item));
    if (results.length !== batch.length) throw new Error(`a batch of ${batch.length} gave ${results.length} results`);
    for (const [index, entry] of batch.entries()) entry.resolve(results[index] as Result);
  } catch (error) {
    if (batch.length === 1 || options.splits?.(error) !== true) {
      for (const entry of batch) entry.reject(error);
      return;
    }
    const middle = batch.length >> 1;
    await runBatch(options, batch.slice(0, middle));
    await runBatch(options, batch.slice(middle));
  }
}
