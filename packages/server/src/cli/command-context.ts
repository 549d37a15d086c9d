import { buffer } from "node:stream/consumers";
import { styleText } from "node:util";
import { type Environment, openEnvironment } from "../config/environment.ts";

/** How text may stand out on a terminal. */
export type TextStyle = "bold" | "dim" | "green" | "red";

/** What a command has of the world; tests give their own. */
export type CommandContext = {
  readonly environment: Environment;
  /** Writes one line of the command's result. */
  print(line: string): void;
  /** Writes one line about the result: progress, warnings, faults. */
  note(line: string): void;
  /** Marks text up where the result goes to a terminal, and leaves it as it is elsewhere. */
  style(style: TextStyle, text: string): string;
  /** Reads standard input to its end. */
  readInput(): Promise<Buffer>;
  /** Aborts at the first SIGINT or SIGTERM from now on; the next one ends the process. */
  untilInterrupted(): AbortSignal;
};

/** The context of this process. What reads a variable throws ConfigError when SVC_ENV_FILE cannot be read. */
export function processContext(): CommandContext {
  let environment: Environment | undefined;
  return {
    // Opened at its first use: help needs none.
    get environment() {
      environment ??= openEnvironment();
      return environment;
    },
    print: (line) => void process.stdout.write(`${line}\n`),
    note: (line) => void process.stderr.write(`${line}\n`),
    style: (style, text) => styleText(style, text, { stream: process.stdout }),
    readInput: () => buffer(process.stdin),
    untilInterrupted,
  };
}

function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  const stop = () => {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
    controller.abort();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return controller.signal;
}
