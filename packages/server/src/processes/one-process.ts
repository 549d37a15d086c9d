import { type ChildProcess, fork } from "node:child_process";
import type { Readable } from "node:stream";
import type { DestinationStream } from "pino";
import type { ProcessMessage, SupervisorMessage } from "./messages.ts";

/** Forwards the lines of a process, each as a whole, so that lines of several processes do not mix. An incomplete last line is dropped. */
function forwardLines(from: Readable, to: DestinationStream): void {
  let begun = "";
  from.setEncoding("utf8").on("data", (text: string) => {
    const all = begun + text;
    const end = all.lastIndexOf("\n") + 1;
    begun = all.slice(end);
    if (end > 0) to.write(all.slice(0, end));
  });
}

/** How a process ended: its exit status or signal. */
export type ProcessEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** One of several processes, in the supervisor. */
export type OneProcess = {
  readonly number: number;
  readonly pid: number;
  /** Resolves when it has ended and its last line is written. */
  readonly ended: Promise<ProcessEnd>;
  /** Sends a message. It is lost if the process has ended. */
  tell(message: SupervisorMessage): void;
  kill(): void;
};

/** Program of a process: a Node script and its arguments. */
export type ProcessProgram = { readonly file: string; argumentsOf(number: number): readonly string[] };

/** Starts a process and forwards its lines to `output`. It ends together with this one, because it watches the channel. */
export function startProcess(
  number: number,
  {
    program,
    output,
    receive,
  }: { program: ProcessProgram; output: DestinationStream; receive: (message: ProcessMessage) => void },
): OneProcess {
  const child = fork(program.file, [...program.argumentsOf(number)], {
    // JSON has no NaN, which some metrics use.
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
    // It could not be started.
    child.once("error", () => resolve({ code: child.exitCode, signal: child.signalCode }));
    child.once("close", (code, signal) => resolve({ code, signal }));
  });
}

function ignore(): void {}
