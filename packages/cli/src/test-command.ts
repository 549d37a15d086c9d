import { openEnvironment } from "@svc/server/config";
import type { CommandContext, Terminal } from "./command/context.ts";
import type { Screen } from "./command/screen.ts";
import { runCommand } from "./program.ts";

/** A command that runs in the test's process, or has run. It has its own output, input and environment variables. */
export type TestCommand = {
  /** Lines that the command has printed to standard output so far. The next field has those of standard error. */
  readonly printed: string[];
  readonly noted: string[];
  readonly exitCode: Promise<number>;
  interrupt(): void;
  /** Resolves with the first line of the command's output that matches `pattern`. Rejects if the command ends without such a line. */
  line(pattern: RegExp): Promise<string>;
};

/** Starts a command with exactly these environment variables. It has no terminal and no screen, unless the caller gives one. */
export function startCommand(
  argv: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  input = "",
  terminal?: Terminal,
  screen?: Screen,
): TestCommand {
  const controller = new AbortController();
  const printed: string[] = [];
  const noted: string[] = [];
  const lines: string[] = [];
  const waiting: { pattern: RegExp; resolve: (line: string) => void }[] = [];
  const write = (list: string[]) => (line: string) => {
    list.push(line);
    lines.push(line);
    for (const { pattern, resolve } of waiting) if (pattern.test(line)) resolve(line);
  };
  const context: CommandContext = {
    environment: openEnvironment(variables),
    print: write(printed),
    note: write(noted),
    style: (_, text) => text,
    readInput: async () => Buffer.from(input),
    terminal,
    screen,
    untilInterrupted: () => controller.signal,
  };
  const exitCode = runCommand(argv, context);
  return {
    printed,
    noted,
    exitCode,
    interrupt: () => controller.abort(),
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const found = lines.find((line) => pattern.test(line));
        if (found !== undefined) return resolve(found);
        waiting.push({ pattern, resolve });
        exitCode.then(
          (code) => reject(new Error(`ended with ${code} before ${pattern}:\n${lines.join("\n")}`)),
          reject,
        );
      }),
  };
}

/**
 * Runs a command of `svc` in the test's process until it ends. Returns its exit code, and the lines that it printed to standard output and
 * standard error.
 */
export async function runTestCommand(
  argv: readonly string[],
  variables?: Readonly<Record<string, string>>,
  input?: string,
): Promise<{ code: number; printed: string[]; noted: string[] }> {
  const { exitCode, printed, noted } = startCommand(argv, variables, input);
  return { code: await exitCode, printed, noted };
}
