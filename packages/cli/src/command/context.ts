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

// Time in milliseconds in which repeats of a signal are ignored. One Ctrl-C arrives several times, because the terminal signals all
// processes of its group and npm forwards the signal.
const repeatMs = 1_000;

/**
 * Calls `stop` at the first of these signals. Repeats within a second are ignored. The next signal after that ends the process at once,
 * with exit code 128 plus the signal's number.
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

/** Styles of text on a terminal. */
type TextStyle = "bold" | "dim" | "green" | "red";

/** The parts of the process that a command needs: output, input, environment. Tests supply their own. */
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
  /** The person at the terminal. Undefined if standard input or standard error is redirected. */
  readonly terminal: Terminal | undefined;
  /** A screen for progress that is drawn in place. Undefined if standard error is redirected. */
  readonly screen: Screen | undefined;
  /**
   * Returns a signal that aborts at the next SIGINT, SIGTERM or SIGHUP, or when nothing reads the output any more. A second signal after
   * more than a second ends the process at once.
   */
  untilInterrupted(): AbortSignal;
};

/** Returns the context of this process. Reading a variable throws ConfigError if SVC_ENV_FILE cannot be read. */
export function processContext(): CommandContext {
  let environment: Environment | undefined;
  process.stdout.on("error", ignoreClosedPipe);
  return {
    // The variables are read at first use, because the help needs none of them.
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

/** Ignores the error of a closed output pipe: the reader (such as `| head`) has read enough. */
function ignoreClosedPipe(err: NodeJS.ErrnoException): void {
  if (err.code !== "EPIPE") throw err;
}

/** A person at a terminal. Everything for them goes to standard error; standard output is the command's result. */
export type Terminal = {
  /** Asks for a line. Rejects with CommandError if the person gives up. */
  ask(question: string): Promise<string>;
  /** Asks for a line without showing it. Rejects as `ask` does. */
  askSecret(question: string): Promise<string>;
  /** Opens an address in the person's browser. Returns false if no browser could be started. */
  openPage(url: string): Promise<boolean>;
  /** Shows a spinner until the returned function is called. */
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
  // Ctrl-C and Ctrl-D close the prompt without an answer.
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
    // If there is no browser, the program that opens it fails only after `open` has returned. So its failure is awaited here.
    return await new Promise((resolve) => {
      child.once("error", () => resolve(false));
      child.once("spawn", () => resolve(true));
      if (child.pid !== undefined) resolve(true);
    });
  } catch {
    return false;
  }
}
