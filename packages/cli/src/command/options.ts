import { confirmScopes, parseDuration, readTime, systemClock } from "@svc/core";
import { type Command, InvalidArgumentError, Option } from "commander";

/** The option to print the server's answer unchanged. */
export type JsonOption = { json?: true };

/** Adds `--json`. `what`: what it prints, by default the server's answer. */
export function addJson(command: Command, what = "the server's answer as JSON"): Command {
  return command.option("--json", `print ${what}`);
}

/** The options that say which calls a person confirms. */
export type ConfirmOptions = { confirm?: string; confirmBy?: string; confirmInClient?: true };

/** Adds `--confirm`, `--confirm-by` and `--confirm-in-client`. */
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

/** Returns the confirmation rule of these options, or nothing without `--confirm`. */
export function confirmOf({ confirm: person, confirmBy: contact = "", confirmInClient }: ConfirmOptions): {
  readonly confirm?: { readonly person: string; readonly contact: string; readonly elicitation?: boolean };
} {
  if (person === undefined) return {};
  return { confirm: { person, contact, ...(confirmInClient && { elicitation: true }) } };
}

/** Reads a number of things to list. Throws InvalidArgumentError. */
export const parseCount = countUpTo(999_999);

/** Returns a reader of numbers from 1 to `most`, which throws InvalidArgumentError. */
export function countUpTo(most: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,15}$/.test(text) ? Number(text) : 0;
    if (count >= 1 && count <= most) return count;
    throw new InvalidArgumentError(`expected a whole number from 1 to ${most}`);
  };
}

/** Reads a duration such as 90d, 2h or PT12H as milliseconds. Throws InvalidArgumentError. */
export function parseSpan(text: string): number {
  try {
    return parseDuration(text);
  } catch (err) {
    throw new InvalidArgumentError(err instanceof Error ? err.message : String(err));
  }
}

/** Reads a time, given as RFC 3339 or as a span before now, as epoch milliseconds. Throws InvalidArgumentError. */
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

/** Collects the texts of a repeatable option. */
export function collectText(text: string, before: readonly string[]): string[] {
  return [...before, text];
}

/** Collects the pairs of a repeatable option. Throws InvalidArgumentError. */
export function collectPair(text: string, pairs: Readonly<Record<string, string>>): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("expected name=value");
  return { ...pairs, [text.slice(0, at)]: text.slice(at + 1) };
}

/** Reads words separated by commas, without spaces around them. Throws InvalidArgumentError if there is none. */
export function parseWords(text: string): string[] {
  const words = text.split(",").map((word) => word.trim());
  if (words.every((word) => word !== "")) return words;
  throw new InvalidArgumentError("expected words such as a,b");
}

/** Returns a text that may not be empty, because an unset shell variable would otherwise mean "everything". Throws InvalidArgumentError. */
export function parseText(text: string): string {
  if (text.trim() !== "") return text;
  throw new InvalidArgumentError("expected a text that is not empty");
}

/** Adds examples at the end of a command's help, each as a typed line. */
export function addExamples(command: Command, examples: readonly string[]): void {
  command.addHelpText("after", `\nExamples:\n${examples.map((example) => `  ${example}`).join("\n")}`);
}
