import type { SchemaFault, SchemaValidator } from "@svc/catalog";
import {
  isObject,
  type JsonLimits,
  jsonDepthMax,
  parseExactJson,
  parseJsonInTurns,
  repeatsName,
  repeatsNameInTurns,
} from "@svc/core";

/** A payload after it was read: its JSON text, in which numbers keep all their digits, or its faults. */
export type ReadPayload = { readonly text: string } | { readonly faults: readonly SchemaFault[] };

/** Waits until other work of the node has run, so that long work does not block the event loop. */
export type NextTurn = () => Promise<void>;

/**
 * Reads the payload of an event that a project publishes. It must be a JSON object without repeated names that satisfies the schema.
 * `validate`: returns the faults of a value; undefined if every object is accepted. `turn`: awaited between the parts of a long payload, so
 * that other work can run.
 */
export async function readPayload(
  json: string,
  validate: SchemaValidator | undefined,
  turn: NextTurn,
): Promise<ReadPayload> {
  const read = await parse(json, turn);
  if ("faults" in read) return read;
  const { value } = read;
  if (!isObject(value)) return faultOf("must be an object");
  const pause = isLong(json) ? turn : async () => {};
  await pause();
  const isRepeated = isLong(json) ? await repeatsNameInTurns(json, value, turn) : repeatsName(json, value);
  if (isRepeated) return faultOf("must not repeat a name in an object");
  await pause();
  const faults = validate?.(value) ?? [];
  await pause();
  return faults.length > 0 ? { faults } : { text: JSON.stringify(value) };
}

/** Parses a payload. If it is long, lets other work run in between with `turn`. Rejects with SyntaxError. */
export async function parsePayload(json: string, turn: NextTurn): Promise<unknown> {
  return isLong(json) ? parseJsonInTurns(json, { bounds: boundsOf(json), turn }) : parseExactJson(json);
}

/** True if a payload has more than 16,384 characters. svc parses such a payload in parts, so that other work can run between them. */
function isLong(json: string): boolean {
  return json.length > 16_384;
}

/** Limits for parsing a long payload. Only its depth is limited here, because the size of the request is limited already. */
function boundsOf({ length }: string): JsonLimits {
  return { values: length + 1, members: length, raw: length, digits: length, depth: jsonDepthMax };
}

async function parse(
  json: string,
  turn: NextTurn,
): Promise<{ readonly value: unknown } | { readonly faults: readonly SchemaFault[] }> {
  if (json === "") return faultOf("must not be empty; an object without properties is {}");
  try {
    return { value: await parsePayload(json, turn) };
  } catch (error) {
    // The parser's message is only used if the nesting is too deep, because its other messages quote the text.
    const isDeep = error instanceof SyntaxError && error.message.includes("nested");
    return faultOf(isDeep ? "is nested too deeply" : "is not JSON");
  }
}

function faultOf(message: string): { readonly faults: readonly SchemaFault[] } {
  return { faults: [{ pointer: "", message }] };
}
