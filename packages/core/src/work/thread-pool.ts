import { Worker } from "node:worker_threads";

/** Task of a thread: a message for its entry, the project, and the maximum CPU time. */
export type ThreadTask = { readonly projectId: string; readonly message: unknown; readonly cpuMsMax: number };

/** Threads for work that may have to be stopped, separate from the event loop. */
export type ThreadPool = {
  /**
   * Resolves with the entry's answer. Rejects with ThreadStoppedError if the task exceeded its CPU time or memory; its thread is ended, and
   * the next task gets another. Projects take turns.
   */
  run(task: ThreadTask): Promise<unknown>;
  /** Ends the threads. Waiting and running tasks reject. */
  close(): Promise<void>;
};

/** A task was stopped: it exceeded its CPU time or memory, or the pool was closed. */
export class ThreadStoppedError extends Error {
  override name = "ThreadStoppedError";
  readonly reason: "cpu" | "memory" | "closed";

  constructor(reason: "cpu" | "memory" | "closed") {
    super(`a thread was stopped: ${reason}`);
    this.reason = reason;
  }
}

/** Options of a pool. */
export type ThreadPoolOptions = {
  /** The module that threads run: it serves tasks with `serveTasks`. */
  readonly entry: URL;
  /** Maximum threads; each starts when a task needs it. Default 1. */
  readonly threadsMax?: number;
  /** Memory of a thread's objects, MiB. Default 128. */
  readonly memoryMaxMib?: number;
};

type QueuedTask = { readonly task: ThreadTask; resolve(answer: unknown): void; reject(error: unknown): void };

/** Maximum CPU time checks of a task that has used its time by the clock, but perhaps not of the CPU. */
const timeChecksMax = 8;

/** Creates a pool. No thread starts before the first task. */
export function createThreadPool(options: ThreadPoolOptions): ThreadPool {
  const { threadsMax = 1 } = options;
  const queues = new Map<string, QueuedTask[]>();
  const threads = new Set<Thread>();
  let isClosed = false;
  const next = (): QueuedTask | undefined => {
    const [first] = queues;
    if (first === undefined) return undefined;
    const [projectId, queue] = first;
    const found = queue.shift();
    queues.delete(projectId);
    if (queue.length > 0) queues.set(projectId, queue);
    return found;
  };
  const idle = (): Thread | undefined => {
    for (const thread of threads) if (!thread.isBusy) return thread;
    if (threads.size >= threadsMax) return undefined;
    const made = createThread(options, () => {
      threads.delete(made);
      fill();
    });
    threads.add(made);
    return made;
  };
  const fill = (): void => {
    while (!isClosed && queues.size > 0) {
      const thread = idle();
      const waiting = thread && next();
      if (thread === undefined || waiting === undefined) return;
      void thread.run(waiting).finally(fill);
    }
  };
  return {
    run: (task) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new ThreadStoppedError("closed"));
        const waiting: QueuedTask = { task, resolve, reject };
        const queue = queues.get(task.projectId);
        if (queue === undefined) queues.set(task.projectId, [waiting]);
        else queue.push(waiting);
        fill();
      }),
    async close() {
      isClosed = true;
      for (const queue of queues.values()) for (const { reject } of queue) reject(new ThreadStoppedError("closed"));
      queues.clear();
      await Promise.all([...threads].map((thread) => thread.end("closed")));
    },
  };
}

type Thread = {
  readonly isBusy: boolean;
  /** Runs one task; never rejects, because the task itself gets the error. */
  run(waiting: QueuedTask): Promise<void>;
  end(reason: ThreadStoppedError["reason"]): Promise<void>;
};

/** Message of a thread: an answer to its task, or the error it threw. */
type ThreadReply = { readonly value: unknown } | { readonly error: string };

function createThread({ entry, memoryMaxMib = 128 }: ThreadPoolOptions, onGone: () => void): Thread {
  // Flags of the process, such as those of a test runner, do not apply to the thread.
  const worker = new Worker(entry, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: memoryMaxMib } });
  // A finished node exits even if its threads are still busy.
  worker.unref();
  let current: QueuedTask | undefined;
  /** True if it has failed or was ended, and takes no more tasks. */
  let isOver = false;
  let reason: ThreadStoppedError["reason"] = "memory";
  let timer: NodeJS.Timeout | undefined;
  let onDone: (() => void) | undefined;
  const settle = (outcome: (waiting: QueuedTask) => void) => {
    const waiting = current;
    current = undefined;
    clearTimeout(timer);
    if (waiting !== undefined) outcome(waiting);
    onDone?.();
  };
  const end = async (why: ThreadStoppedError["reason"]) => {
    isOver = true;
    reason = why;
    await worker.terminate();
  };
  worker.on("message", (answer: ThreadReply) =>
    settle(({ resolve, reject }) => ("error" in answer ? reject(new Error(answer.error)) : resolve(answer.value))),
  );
  worker.on("error", (error: Error & { code?: string }) => {
    isOver = true;
    const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
    settle(({ reject }) => reject(isMemory ? new ThreadStoppedError("memory") : error));
  });
  worker.on("exit", () => {
    isOver = true;
    settle(({ reject }) => reject(new ThreadStoppedError(reason)));
    onGone();
  });
  /** By CPU time if the thread reports it: on a busy machine the clock runs while the thread does not. */
  const watch = async (waiting: QueuedTask, usedBeforeMs: number | undefined) => {
    const { cpuMsMax } = waiting.task;
    for (let looks = 1; looks <= timeChecksMax && current === waiting; looks++) {
      await new Promise<void>((resolve) => {
        timer = setTimeout(resolve, cpuMsMax);
      });
      if (current !== waiting) return;
      const usedMs = await cpuMsOf(worker);
      if (usedMs === undefined || usedBeforeMs === undefined || usedMs - usedBeforeMs >= cpuMsMax) break;
    }
    if (current === waiting) await end("cpu");
  };
  return {
    get isBusy() {
      return isOver || current !== undefined;
    },
    run: (waiting) =>
      new Promise((resolve) => {
        current = waiting;
        onDone = resolve;
        try {
          worker.postMessage(waiting.task.message);
        } catch (error) {
          return settle(({ reject }) => reject(error));
        }
        void cpuMsOf(worker).then((usedMs) => watch(waiting, usedMs));
      }),
    end,
  };
}

const usageTimeoutMs = 1_000;

/** Returns the CPU milliseconds a thread has used; undefined if it does not answer within a second. */
async function cpuMsOf(worker: Worker): Promise<number | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), usageTimeoutMs);
  });
  try {
    const usage = await Promise.race([worker.cpuUsage(), silence]);
    return usage && (usage.user + usage.system) / 1_000;
  } catch {
    // It has not started, or has ended; its exit is reported elsewhere.
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
