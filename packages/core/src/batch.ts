/** How a batcher gathers and runs. */
export type BatcherOptions<Item, Result> = {
  /** Does a batch in one go; resolves to one result an item, in order. */
  run(items: readonly Item[]): Promise<readonly Result[]>;
  /** Items a batch at most. */
  sizeMax: number;
  /** What the items of a batch may weigh together, unless one alone weighs more. Default: no bound. */
  weight?: { readonly max: number; of(item: Item): number };
  /** Batches under way at once. */
  concurrency: number;
  /** Items that may wait; one more is refused with OverloadedError. Default: no bound. */
  waitingMax?: number;
  /** Items that must wait before a batch is started beside one that is under way. Default 1. */
  besideMin?: number;
  /**
   * Under load, larger batches are worth more than earlier ones: when the batch before held `fromSize` items or more, the
   * next one gathers for `ms` milliseconds first, unless it fills up. Default: never.
   */
  linger?: { ms: number; fromSize: number };
  /** Whether a failed batch is tried again in two halves, so that one bad item fails alone. Default: never. */
  splits?(error: unknown): boolean;
};

/** Turns single items into batches: what arrives while a batch is under way shares the next one. */
export type Batcher<Item, Result> = {
  /** Resolves with the item's own result, rejects with the error of the smallest batch that held it. */
  add(item: Item): Promise<Result>;
  /** Resolves once nothing is waiting or under way. */
  idle(): Promise<void>;
  /** Items waiting or under way. */
  size(): number;
};

/** More waits than may: what is behind the batcher does not keep up, or does not answer. Try again later. */
export class OverloadedError extends Error {
  override name = "OverloadedError";

  constructor(waiting: number) {
    super(`${waiting} items wait already`);
  }
}

type Entry<Item, Result> = { item: Item; resolve(result: Result): void; reject(error: unknown): void };

/**
 * Group commit: no minimum size, and without load no timer. An idle batcher runs a lone item at once (after the I/O of the present turn,
 * so that requests read together go together); a busy one lets items gather for exactly as long as the batch ahead takes.
 */
export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const { linger, besideMin = 1, waitingMax = Number.POSITIVE_INFINITY } = options;
  let waiting: Entry<Item, Result>[] = [];
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
  /** Ends a linger early. */
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

/** Returns the number of first items, at least one, that together weigh no more than a batch may. */
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

/** Never rejects: every entry hears for itself. */
async function runBatch<Item, Result>(
  options: BatcherOptions<Item, Result>,
  batch: Entry<Item, Result>[],
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
