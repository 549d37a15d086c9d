import { type ChildProcess, fork } from "node:child_process";
import type { Readable } from "node:stream";
import type { DestinationStream } from "pino";
import type { ProcessMessage, SupervisorMessage } from "./messages.ts";

/**
 * Forwards the log lines of a process. Each line is written as a whole, so that lines of several processes do not mix. An incomplete last
 * line is dropped.
 */
function forwardLines(from: Readable, to: DestinationStream): void {
  let begun = "";
  from.setEncoding("utf8").on("data", (text: string) => {
    const all = begun + text;
    const end = all.lastIndexOf("\n") + 1;
    begun = all.slice(end);
    if (end > 0) to.write(all.slice(0, end));
  });
}

/** How a process ended. `code`: exit status. `signal`: signal that ended it. */
export type ProcessEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** One of several processes, as the supervisor sees it. */
export type OneProcess = {
  readonly number: number;
  readonly pid: number;
  /** Resolves when the process has ended and its last log line is written. */
  readonly ended: Promise<ProcessEnd>;
  /** Sends a message to the process. The message is lost if the process has ended. */
  tell(message: SupervisorMessage): void;
  kill(): void;
};

/**
 * Program that the supervisor starts for each process. `file`: Node script. `argumentsOf`: returns the arguments for the process with the
 * given number.
 */
export type ProcessProgram = { readonly file: string; argumentsOf(number: number): readonly string[] };

/**
 * Starts a child process and forwards its log lines to `output`. If the present process ends, the child process notices that the channel
 * between them is closed, and ends as well.
 */
export function startProcess(
  number: number,
  {
    program,
    output,
    receive,
  }: { program: ProcessProgram; output: DestinationStream; receive: (message: ProcessMessage) => void },
): OneProcess {
  const child = fork(program.file, [...program.argumentsOf(number)], {
    // The format `advanced` is necessary, because some metrics have the value NaN, which JSON cannot express.
    serialization: "advanced",
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  if (child.stdout !== null) forwardLines(child.stdout, output);
  child.on("message", (message) => receive(message as ProcessMessage));
  return {
    number,
    pid: child.pid ?? 0,
    ended: endOf(child),
    tell(message) {
      if (child.connected) child.send(message, ignore);
    },
    kill: () => void child.kill("SIGKILL"),
  };
}

function endOf(child: ChildProcess): Promise<ProcessEnd> {
  return new Promise((resolve) => {
    // The event `error` means that the process could not be started. The event `close` may be missing in this case.
    child.once("error", () => resolve({ code: child.exitCode, signal: child.signalCode }));
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
}

function ignore(): void {}
