import { constants } from "node:os";
import { buffer } from "node:stream/consumers";
import { styleText } from "node:util";
import { systemClock } from "@svc/core";
import { type Environment, openEnvironment } from "@svc/server/config";
import { openScreen, type Screen } from "./screen.ts";
import { openTerminal, type Terminal } from "./terminal.ts";

// A terminal signals its whole process group and npm forwards what it got, so one Ctrl-C arrives more than once.
const repeatMs = 1_000;

/**
 * Calls `stop` at the first of these signals. Repeats within a second are the same wish; a later signal ends the process at once,
 * with 128 and the signal's number.
 */
export function onInterrupt(names: readonly NodeJS.Signals[], stop: (name: NodeJS.Signals) => void): void {
  let firstMs: number | undefined;
  for (const name of names) {
    process.on(name, () => {
      const nowMs = systemClock.now();
      if (firstMs === undefined) {
        firstMs = nowMs;
        stop(name);
      } else if (nowMs - firstMs >= repeatMs) process.exit(128 + constants.signals[name]);
    });
  }
}

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
