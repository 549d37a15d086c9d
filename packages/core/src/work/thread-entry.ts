import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { parentPort } from "node:worker_threads";

/** How far behind the event loop a thread stands where both want the same core (as of nice(1)). */
const niceness = 19;

/** Serves tasks in a thread of a pool: for each message, one answer. The module that calls it is the pool's entry. */
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

/** On Linux a thread has a priority of its own; elsewhere it keeps that of the process. */
function standBack(): void {
  try {
    setPriority(Number(readlinkSync("/proc/thread-self").split("/").at(-1)), niceness);
  } catch {
    // There is no such file, or no right to it: the thread runs as the others do.
  }
}
