import { constants } from "node:os";
import { stderr, stdin } from "node:process";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { styleText } from "node:util";
import { systemClock } from "@svc/core";
import { type Environment, openEnvironment } from "@svc/server/config";
import { CommandError } from "./error.ts";
import { openScreen, type Screen } from "./screen.ts";

// Time in milliseconds in which repeats of a signal are ignored. One Ctrl-C arrives several times, because the terminal sends the signal to
// all processes of its group, and npm forwards the signal too.
const repeatMs = 1_000;

/**
 * Calls `stop` at the first of these signals. Ignores repeats within one second. A later signal ends the process at once; the exit code is
 * then 128 plus the number of the signal.
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

/** Styles in which a command can print text on a terminal. */
type TextStyle = "bold" | "dim" | "green" | "red";

/** The parts of the process that a command uses: output, input and environment variables. Tests provide their own context. */
export type CommandContext = {
  readonly environment: Environment;
  /** Writes one line of the command's result. */
  print(line: string): void;
  /** Writes one line that is not part of the result: progress, a warning or an error. */
  note(line: string): void;
  /** Returns styled text if the result goes to a terminal, and plain text otherwise. */
  style(style: TextStyle, text: string): string;
  /** Reads standard input to its end. */
  readInput(): Promise<Buffer>;
  /** The terminal at which a person sits. Undefined if standard input or standard error is redirected. */
  readonly terminal: Terminal | undefined;
  /**
   * The terminal that shows progress and redraws it in the same position. Undefined if standard error is redirected or if the terminal
   * cannot move its cursor.
   */
  readonly screen: Screen | undefined;
  /**
   * Returns an AbortSignal that aborts at a SIGINT, SIGTERM or SIGHUP, or when the output is closed. If the user interrupts again more than
   * a second later, the process ends at once.
   */
  untilInterrupted(): AbortSignal;
};

/** Returns the context of this process. Reading an environment variable throws ConfigError if the file of SVC_ENV_FILE cannot be read. */
export function processContext(): CommandContext {
  let environment: Environment | undefined;
  process.stdout.on("error", ignoreClosedPipe);
  return {
    // The environment is read when it is first used, because printing the help needs no variables.
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

/** Ignores the error of an output that its reader has closed (for example `| head`). */
function ignoreClosedPipe(err: NodeJS.ErrnoException): void {
  if (err.code !== "EPIPE") throw err;
}

/** A terminal at which a person sits. Questions go to standard error, because standard output contains only the command's result. */
export type Terminal = {
  /** Asks the person for one line and returns it. Rejects with CommandError if the person cancels. */
  ask(question: string): Promise<string>;
  /** Asks the person for one line without showing the typed characters, and returns it. Rejects with CommandError if the person cancels. */
  askSecret(question: string): Promise<string>;
  /** Opens a web address in the person's browser. Returns false if no browser could be started. */
  openPage(url: string): Promise<boolean>;
  /** Shows a spinner with a text on the terminal while the command waits. Returns a function that removes the spinner. */
  startSpinner(text: string): Promise<() => void>;
};

/** Returns the terminal of this process, or undefined if there is none. */
function openTerminal(): Terminal | undefined {
  if (!stdin.isTTY || !stderr.isTTY) return undefined;
  return {
    ask: (question) => readLine(question, stderr),
    async askSecret(question) {
      stderr.write(question);
      const text = await readLine("", new Writable({ write: (_chunk, _encoding, done) => done() }));
      stderr.write("\n");
      return text;
    },
    openPage,
    async startSpinner(text) {
      const { default: yoctoSpinner } = await import("yocto-spinner");
      const spinner = yoctoSpinner({ text, stream: stderr }).start();
      return () => void spinner.stop();
    },
  };
}

function readLine(question: string, output: NodeJS.WritableStream): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const lines = createInterface({ input: stdin, output, terminal: true });
  // Ctrl-C or Ctrl-D closes the prompt, and the person has given no answer.
  lines.once("close", () => reject(new CommandError("cancelled: nothing was sent")));
  lines.question(question, (text) => {
    resolve(text);
    lines.close();
  });
  return promise;
}

async function openPage(url: string): Promise<boolean> {
  const { default: open } = await import("open");
  try {
    const child = await open(url);
    // `open` may return before the start of the browser has succeeded or failed. This code waits for the result of the start.
    return await new Promise((resolve) => {
      child.once("error", () => resolve(false));
      child.once("spawn", () => resolve(true));
      if (child.pid !== undefined) resolve(true);
    });
  } catch {
    return false;
  }
}
