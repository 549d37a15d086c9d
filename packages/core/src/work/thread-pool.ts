import { Worker } from "node:worker_threads";

/** Task for a thread. `projectId`: its project. `message`: input for the thread's module. `cpuMsMax`: maximum CPU time in milliseconds. */
export type ThreadTask = { readonly projectId: string; readonly message: unknown; readonly cpuMsMax: number };

/** A pool of threads for work that svc may have to stop. The work does not block the event loop. */
export type ThreadPool = {
  /**
   * Runs a task in a thread and resolves with its result. Rejects with ThreadStoppedError if the task exceeded its CPU time or memory. The
   * tasks of different projects take turns.
   */
  run(task: ThreadTask): Promise<unknown>;
  /** Ends all threads. Waiting and running tasks reject with ThreadStoppedError. */
  close(): Promise<void>;
};

/** Error for a task that was stopped, because it exceeded its CPU time or memory, or because the pool was closed. */
export class ThreadStoppedError extends Error {
  override name = "ThreadStoppedError";
  readonly reason: "cpu" | "memory" | "closed";

  constructor(reason: "cpu" | "memory" | "closed") {
    super(`a thread was stopped: ${reason}`);
    this.reason = reason;
  }
}

/** Options of a thread pool. */
export type ThreadPoolOptions = {
  /** The module that each thread runs. It must call `serveTasks`. */
  readonly entry: URL;
  /** Maximum number of threads. A thread starts when a task needs it. Default 1. */
  readonly threadsMax?: number;
  /** Maximum memory of a thread's JavaScript objects, in MiB. Default 128. */
  readonly memoryMaxMib?: number;
};

type QueuedTask = { readonly task: ThreadTask; resolve(answer: unknown): void; reject(error: unknown): void };

/**
 * svc regularly checks how much CPU time a task has used. After this number of checks, svc stops the task, even if the task is still below
 * its CPU limit.
 */
const timeChecksMax = 40;

/** Creates a thread pool. The first thread starts with the first task. */
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
  /** Runs one task on this thread. The promise never rejects, because the caller of the task gets the error. */
  run(waiting: QueuedTask): Promise<void>;
  end(reason: ThreadStoppedError["reason"]): Promise<void>;
};

/** Message from a thread: the result of a task, or the text of an error that the task threw. */
type ThreadReply = { readonly value: unknown } | { readonly error: string };

function createThread({ entry, memoryMaxMib = 128 }: ThreadPoolOptions, onGone: () => void): Thread {
  // The thread gets none of the process's command-line flags, for example those of a test runner.
  const worker = new Worker(entry, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: memoryMaxMib } });
  // The thread does not keep the process alive: the process may exit while the thread still works.
  worker.unref();
  let current: QueuedTask | undefined;
  /** True if the thread has failed or was ended; it then accepts no more tasks. */
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
  /**
   * Ends the task if it has used its CPU time. The elapsed time alone is not enough, because on a busy machine the thread may have had to
   * wait. A thread that waits may not report its CPU time in time either. Then the CPU time of all threads decides, without the main thread.
   */
  const watch = async (waiting: QueuedTask, usedBeforeMs: number | undefined, othersBeforeMs: number) => {
    const { cpuMsMax } = waiting.task;
    for (let looks = 1; looks <= timeChecksMax && current === waiting; looks++) {
      await new Promise<void>((resolve) => {
        timer = setTimeout(resolve, cpuMsMax);
      });
      if (current !== waiting) return;
      const usedMs = await cpuMsOf(worker);
      // A thread that was just started does not say what it used before, which is nothing.
      const sinceMs = usedMs === undefined ? cpuMsOfThreads() - othersBeforeMs : usedMs - (usedBeforeMs ?? 0);
      if (sinceMs >= cpuMsMax) break;
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
        const othersMs = cpuMsOfThreads();
        void cpuMsOf(worker).then((usedMs) => watch(waiting, usedMs, othersMs));
      }),
    end,
  };
}

/** Returns the CPU milliseconds that all threads of this process except the main thread have used. */
function cpuMsOfThreads(): number {
  const [all, main] = [process.cpuUsage(), process.threadCpuUsage()];
  return (all.user + all.system - main.user - main.system) / 1_000;
}

const usageTimeoutMs = 5_000;

/** Returns the CPU milliseconds that a thread has used; undefined if the thread does not answer within 5 s. */
async function cpuMsOf(worker: Worker): Promise<number | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), usageTimeoutMs);
  });
  try {
    const usage = await Promise.race([worker.cpuUsage(), silence]);
    return usage && (usage.user + usage.system) / 1_000;
  } catch {
    // The thread has not started yet, or has already ended. Other code reports its end.
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
