import { readFile } from "node:fs/promises";
import { requireText } from "@svc/core";
import type { CommandContext } from "./context.ts";
import { CommandError } from "./error.ts";

/** The text of a file, or of standard input for `-`. `what` is what asked for it. Rejects with CommandError. */
export async function readText(file: string, what: string, context: CommandContext): Promise<string> {
  try {
    return requireText(file === "-" ? await context.readInput() : await readFile(file));
  } catch (err) {
    throw new CommandError(`${what} cannot be read: ${err instanceof Error ? err.message : String(err)}`);
  }
}

/** The JSON text that an option gives: itself, `@file`, or `@-` for standard input. Rejects with CommandError if it is no JSON. */
export async function readJsonOption(option: string, text: string, context: CommandContext): Promise<string> {
  const json = text.startsWith("@") ? await readText(text.slice(1), `${option} ${text}`, context) : text;
  try {
    JSON.parse(json);
    return json;
  } catch (err) {
    throw new CommandError(`${option} is not JSON: ${err instanceof Error ? err.message : String(err)}`);
  }
}
