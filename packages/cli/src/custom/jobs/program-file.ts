import { partedOf, renderText } from "@svc/core";
import { ConnectError } from "@svc/sdk";
import { InvalidArgumentError } from "commander";
import { withCommands } from "../../command/api-names.ts";
import type { CommandContext } from "../../command/context.ts";
import { CommandError, type Refusal, refusalsOf, spokenText } from "../../command/error.ts";
import { readText } from "../../command/input.ts";
import { parseKeepingNumbers } from "../../text/message.ts";
import { plainText } from "../../text/plain.ts";
import { countText } from "../../text/table.ts";
import { type Arguments, type TypedArgument, typeArguments } from "../call/arguments.ts";

/** A program (JSON document of a job's steps) from a file, with the values that the user filled in with `--set`. */
export type ProgramFile = {
  /** The name of the program's file, as error texts show it. */
  readonly name: string;
  /** The text of the file, without the values of `--set`. Error messages use it to find the line of an error. */
  readonly text: string;
  /** The JSON text of the program that the command submits, with the values of `--set` filled in. */
  readonly programJson: string;
  /** The names of the values that the user filled in with the option `--set`. */
  readonly set: readonly string[];
};

/**
 * Returns a program from a file (or from standard input if the file is `-`), with the values of `--set`. Rejects with CommandError if the
 * text is not JSON.
 */
export async function readProgramFile(
  file: string,
  typed: readonly TypedArgument[],
  context: CommandContext,
): Promise<ProgramFile> {
  const name = file === "-" ? "stdin" : file;
  const text = await readText(file, name, context);
  const program = parseProgram(text, name);
  const set = typed.map((argument) => argument.name);
  return { name, text, set, programJson: typed.length === 0 ? text : JSON.stringify(setValues(program, typed, name)) };
}

function parseProgram(text: string, name: string): unknown {
  try {
    return parseKeepingNumbers(text);
  } catch (err) {
    const message = err instanceof Error ? err.message : String(err);
    const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(message) ?? [];
    const place = line === undefined ? name : `${name}:${line}:${column}`;
    throw new CommandError(`${place} is not JSON: ${plainText(message)}`);
  }
}

function setValues(program: unknown, typed: readonly TypedArgument[], name: string): Arguments {
  if (typeof program !== "object" || program === null || Array.isArray(program)) {
    throw new CommandError(`${name} is not a JSON object, so it has no input to set`);
  }
  const given = program as Arguments;
  const schema = { properties: { input: given["inputSchema"], params: {} } };
  try {
    return typeArguments(schema, typed, given);
  } catch (err) {
    // The error text names the option of `svc call`. This command has another option, so its name is replaced.
    if (err instanceof CommandError) throw new CommandError(err.message.replace(/^--arg /, "--set "));
    throw err;
  }
}

/**
 * Rejects with the error of a document that the service refused. `field`: the request field that contained the document. If all errors are
 * about the document, the command prints each error as one line: `file:line pointer CODE: what and how`.
 */
export async function refuseDocument(
  err: unknown,
  file: ProgramFile,
  field: "programJson" | "definitionJson",
  context: Pick<CommandContext, "note">,
): Promise<never> {
  const details = err instanceof ConnectError ? refusalsOf(err) : [];
  const isAbout = (detail: Refusal) =>
    detail.field.startsWith(field) && (field !== "programJson" || detail.reason.startsWith("PROGRAM_"));
  if (details.length === 0 || !details.every(isAbout)) throw err;
  const told = details.map(({ field: place, reason, help }) => ({ field: place, reason, help: spokenText(help) }));
  const lines = await faultLines(told, file);
  // The error's message has the total number of errors. Its details name at most a hundred of them.
  let count = details.length;
  renderText(details[0]?.message ?? partedOf(""), (kind, part) => {
    if (kind === "count") count = Number(part);
    return part;
  });
  if (count > lines.length) lines.push(`… and ${count - lines.length} more`);
  for (const line of lines) context.note(line);
  throw new CommandError(`${file.name} has ${countText(count, "problem")}, and nothing was submitted`);
}

/** Returns a line for each error that the service found in a program: `file:line pointer CODE: what is wrong and how to correct it`. */
export async function faultLines(
  faults: readonly { readonly field: string; readonly reason: string; readonly help: string }[],
  file: ProgramFile,
): Promise<string[]> {
  const locate = await createLocator(file);
  return faults.map(({ field, reason, help }) => {
    const pointer = field.replace(/^(?:program|definition)Json/, "");
    return `${locate(pointer)} ${pointer === "" ? "" : `${plainText(pointer)} `}${reason}: ${plainText(help)}`;
  });
}

/** A note about a document, from the service's answer. A note is a warning, not an error. */
export type Note = {
  readonly reason: string;
  readonly field: string;
  readonly message: string;
  readonly help: string;
};

/** Returns a line for each note about a document: `file:line pointer note CODE: what, and what to do if it is not meant`. */
export function noteLines(notes: readonly Note[], file: ProgramFile): Promise<string[]> {
  const told = notes.map(({ field, reason, message, help }) => {
    return { field, reason: `note ${reason}`, help: withCommands(`${message}. If you do not mean that: ${help}.`) };
  });
  return faultLines(told, file);
}

/** The option `--set`, which fills in values of a program. */
export const setOption = [
  "--set <name=value>",
  "a value of the program: input.day=2026-12-01 or params.min=5; can be repeated",
  { parse: collect, default: [] },
] as const;

function collect(text: string, before: readonly TypedArgument[]): TypedArgument[] {
  const at = text.indexOf("=");
  const name = text.slice(0, Math.max(0, at));
  if (!/^(?:input|params)\../.test(name)) {
    throw new InvalidArgumentError("expected input.name=value or params.name=value");
  }
  return [...before, { name, text: text.slice(at + 1) }];
}

/**
 * Returns a function that finds a value of a program in its file. The function takes a JSON Pointer (RFC 6901) and returns the line of its
 * value as text. If the value does not exist, the function returns the line of the value that would contain it.
 */
async function createLocator({ name, text, set }: ProgramFile): Promise<(pointer: string) => string> {
  const { LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  // Every JSON text is also YAML. The YAML parser is used because it knows the position of each value.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false, strict: false, logLevel: "silent" });
  return (pointer) => {
    const path = pointer.split("/").slice(1).map(unescapePointer);
    const option = set.find((given) => `${path.join(".")}.`.startsWith(`${given}.`));
    if (option !== undefined) return `--set ${option}`;
    for (let length = path.length; length >= 0; length--) {
      const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
      const start = rangeStart(node);
      if (start !== undefined) return `${name}:${lines.linePos(start).line}`;
    }
    return name;
  };
}

function unescapePointer(step: string): string {
  return step.replaceAll("~1", "/").replaceAll("~0", "~");
}

function rangeStart(node: unknown): number | undefined {
  if (typeof node !== "object" || node === null || !("range" in node) || !Array.isArray(node.range)) return undefined;
  const [start] = node.range;
  return typeof start === "number" ? start : undefined;
}

/**
 * Reads the definition of a schedule from a file (or from standard input if the file is `-`), and sends it. Prints the definition's errors
 * with their lines. Returns the service's notes about the definition.
 */
export async function sendDefinition<Answer extends { readonly notes: readonly Note[] }>(
  file: string,
  context: CommandContext,
  send: (definitionJson: string) => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly notes: readonly string[] }> {
  const definition = await readProgramFile(file, [], context);
  const answer = await send(definition.programJson).catch((err: unknown) =>
    refuseDocument(err, definition, "definitionJson", context),
  );
  return { answer, notes: await noteLines(answer.notes, definition) };
}
