import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";

/** Priority of a thread relative to the event loop if both want the same core (as in nice(1)). */
const niceness = 19;

/** Serves tasks in a thread of a pool: one answer per message. The pool's entry module calls it. */
export function serveTasks(serve: (message: unknown) => unknown): void {
  const port = parentPort;
  if (port === null) throw new Error("tasks are served in a thread of a pool");
  standBack();
  port.on("message", (message: unknown) => {
    try {
      port.postMessage({ value: serve(message) });
    } catch (error) {
      port.postMessage({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
}

/** On Linux a thread has its own priority; elsewhere it has the priority of the process. */
function standBack(): void {
  try {
    setPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1)), niceness);
  } catch {
    // No such file or no permission: the thread runs with normal priority.
  }
}
