import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";

/** Priority of a thread, as in nice(1); 19 is the lowest. If a thread and the event loop need the same core, the event loop runs first. */
const niceness = 19;

/**
 * Runs tasks of a pool inside a thread. It calls `serve` for each message and sends the result, or what the result's promise resolves with,
 * as the answer. The thread's own module calls this function once.
 */
export function serveTasks(serve: (message: unknown) => unknown): void {
  const port = parentPort;
  if (port === null) throw new Error("tasks are served in a thread of a pool");
  standBack();
  port.on("message", async (message: unknown) => {
    try {
      port.postMessage({ value: await serve(message) });
    } catch (error) {
      port.postMessage({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
}

/**
 * Lowers the priority of this thread. Only Linux has priorities per thread; on other systems the thread keeps the priority of the process.
 */
function standBack(): void {
  try {
    setPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1)), niceness);
  } catch {
    // The file of the thread's priority is missing or cannot be written, so the thread keeps the normal priority.
  }
}
