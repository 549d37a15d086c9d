import { buffer } from "node:stream/consumers";
import { styleText } from "node:util";
import { type Environment, openEnvironment } from "@svc/server/config";
import { onInterrupt } from "./interrupts.ts";
import { openScreen, type Screen } from "./screen.ts";
import { openTerminal, type Terminal } from "./terminal.ts";

/** How text may stand out on a terminal. */
type TextStyle = "bold" | "dim" | "green" | "red";

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
  /** The person at the terminal; undefined when standard input or error goes elsewhere. */
  readonly terminal: Terminal | undefined;
  /** Where progress can be drawn in place; undefined when standard error goes elsewhere. */
  readonly screen: Screen | undefined;
  /** Aborts at the first SIGINT, SIGTERM or SIGHUP from now on, or when nobody reads the output any more; a signal a second later ends the process. */
  untilInterrupted(): AbortSignal;
};

/** The context of this process. What reads a variable throws ConfigError when SVC_ENV_FILE cannot be read. */
export function processContext(): CommandContext {
  let environment: Environment | undefined;
  process.stdout.on("error", ignoreClosedPipe);
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
    terminal: openTerminal(),
    screen: openScreen(process.stderr, process.env["TERM"]),
    untilInterrupted,
  };
}

function untilInterrupted(): AbortSignal {
  const controller = new AbortController();
  const stop = () => controller.abort();
  onInterrupt(["SIGINT", "SIGTERM", "SIGHUP"], stop);
  process.stdout.on("error", stop);
  return controller.signal;
}

/** A reader that has seen enough (`| head`) is no fault. */
function ignoreClosedPipe(err: NodeJS.ErrnoException): void {
  if (err.code !== "EPIPE") throw err;
}
