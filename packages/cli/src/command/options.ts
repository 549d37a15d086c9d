import { confirmScopes, parseDuration, readTime, systemClock } from "@svc/core";
import { type Command, InvalidArgumentError, Option } from "commander";
import { CommandError } from "./error.ts";

/** The option `--json`, with which a command prints the server's answer unchanged. */
export type JsonOption = { json?: true };

/** Adds the option `--json` to a command. `what`: the help text that says what the option prints. Default: the server's answer. */
export function addJson(command: Command, what = "the server's answer as JSON"): Command {
  return command.option("--json", `print ${what}`);
}

/** Values of the command line options that set which tool calls a person must confirm, and who confirms them. */
export type ConfirmOptions = { confirm?: string; confirmBy?: string; confirmInClient?: true };

/** Adds the options `--confirm`, `--confirm-by` and `--confirm-in-client` to a command. They set which tool calls a person must confirm. */
export function addConfirm(command: Command): Command {
  return command
    .addOption(
      new Option("--confirm <calls>", "calls that a person must confirm before they are sent").choices([
        ...confirmScopes,
      ]),
    )
    .option("--confirm-by <contact>", "the contact who is asked to confirm")
    .option("--confirm-in-client", "let MCP clients ask their own user instead of the contact");
}

/**
 * Returns the confirmation rule from the command's options. The rule says which tool calls a person must confirm, and which contact
 * (person) confirms them. Returns no rule if `--confirm` is not given.
 */
export function confirmOf({ confirm: person, confirmBy: contact = "", confirmInClient }: ConfirmOptions): {
  readonly confirm?: { readonly person: string; readonly contact: string; readonly elicitation?: boolean };
} {
  if (person === undefined) {
    // The service replaces the whole rule, so a part of it alone would change nothing or something else than the user means.
    const alone = contact === "" ? confirmInClient && "--confirm-in-client" : "--confirm-by";
    if (alone) throw new CommandError(`${alone} needs --confirm: say which calls a person confirms`, 2);
    return {};
  }
  return { confirm: { person, contact, ...(confirmInClient && { elicitation: true }) } };
}

/** Reads the text of `--limit`, the maximum number of rows to list (1 to 999,999). Throws InvalidArgumentError for any other text. */
export const parseCount = countUpTo(999_999);

/** Returns a reader of numbers from 1 to `most`. The reader throws InvalidArgumentError for any other text. */
export function countUpTo(most: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,15}$/.test(text) ? Number(text) : 0;
    if (count >= 1 && count <= most) return count;
    throw new InvalidArgumentError(`expected a whole number from 1 to ${most}`);
  };
}

/** Returns a duration in milliseconds. The text is such as `90d`, `2h` or `PT12H`. Throws InvalidArgumentError for any other text. */
export function parseSpan(text: string): number {
  try {
    return parseDuration(text);
  } catch (err) {
    throw new InvalidArgumentError(err instanceof Error ? err.message : String(err));
  }
}

/**
 * Returns a time in epoch milliseconds. The text is a time in RFC 3339, or a duration before now (for example `2h`). Throws
 * InvalidArgumentError for any other text.
 */
export function parseMoment(text: string): number {
  const ms = /^\d{4}-/.test(text) ? readTime(text) : momentAgo(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError("expected a time such as 2026-03-14T09:00:00Z, or a span before now, such as 2h");
}

function momentAgo(text: string): number | undefined {
  try {
    return systemClock.now() - parseDuration(text);
  } catch {
    return undefined;
  }
}

/** Adds a text to the texts that a repeatable option had before, and returns all of them. */
export function collectText(text: string, before: readonly string[]): string[] {
  return [...before, text];
}

/**
 * Adds a pair `name=value` to the pairs that a repeatable option had before, and returns all of them. Throws InvalidArgumentError if the
 * text is not a pair.
 */
export function collectPair(text: string, pairs: Readonly<Record<string, string>>): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("expected name=value");
  return { ...pairs, [text.slice(0, at)]: text.slice(at + 1) };
}

/**
 * Returns the words of a text in which commas separate the words. Removes spaces around the words. Throws InvalidArgumentError if there are
 * no words.
 */
export function parseWords(text: string): string[] {
  const words = text.split(",").map((word) => word.trim());
  if (words.every((word) => word !== "")) return words;
  throw new InvalidArgumentError("expected words such as a,b");
}

/**
 * Returns the option's text unchanged. Throws InvalidArgumentError if the text is empty: an unset shell variable gives an empty text, which
 * would otherwise mean "everything".
 */
export function parseText(text: string): string {
  if (text.trim() !== "") return text;
  throw new InvalidArgumentError("expected a text that is not empty");
}

/** Adds examples to the end of a command's help. Each example is a line as the user types it. */
export function addExamples(command: Command, examples: readonly string[]): void {
  command.addHelpText("after", `\nExamples:\n${examples.map((example) => `  ${example}`).join("\n")}`);
}
