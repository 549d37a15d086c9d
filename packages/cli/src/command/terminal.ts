import { stderr, stdin } from "node:process";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CommandError } from "./error.ts";

/** A person at a terminal. What is shown to them goes to standard error: standard output is the command's result. */
export type Terminal = {
  /** Asks for a line. Rejects with CommandError when the person gives up. */
  ask(question: string): Promise<string>;
  /** Asks for a line that is not shown while it is typed. Rejects as `ask` does. */
  askSecret(question: string): Promise<string>;
  /** Opens an address in the person's browser. Answers false when none could be started. */
  openPage(url: string): Promise<boolean>;
  /** Shows that something goes on, until the returned function is called. */
  startSpinner(text: string): Promise<() => void>;
};

/** The terminal of this process; undefined when there is none to ask at. */
export function openTerminal(): Terminal | undefined {
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
  // Ctrl-C and Ctrl-D close it without an answer.
  lines.once("close", () => reject(new CommandError("given up: nothing was sent")));
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
    // Without a browser its starter is not found, and says so later than `open` does.
    return await new Promise((resolve) => {
      child.once("error", () => resolve(false));
      child.once("spawn", () => resolve(true));
      if (child.pid !== undefined) resolve(true);
    });
  } catch {
    return false;
  }
}
