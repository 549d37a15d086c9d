import { type DescMessage, isMessage, type Message, toJson } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";
import { isExactDouble } from "@svc/core/number-text";

/**
 * Adds a hidden `toJSON` to a message and to every message inside it. JSON.stringify then writes the message as the service does: times
 * such as "2026-01-31T09:30:00Z", and 64-bit numbers as texts. Without it, JSON.stringify would throw for a BigInt.
 */
export function addToJson(desc: DescMessage, message: Message): void {
  Object.defineProperty(message, "toJSON", {
    value: () => toJson(desc, message, { alwaysEmitImplicit: true }),
    configurable: true,
    writable: true,
  });
  const reflected = reflect(desc, message);
  for (const field of desc.fields) {
    if (field.message === undefined || !reflected.isSet(field)) continue;
    const value = (message as unknown as Record<string, unknown>)[field.localName];
    for (const inner of field.fieldKind === "message" ? [value] : Object.values(value as object)) {
      if (isMessage(inner, field.message)) addToJson(field.message, inner);
    }
  }
}

/**
 * Parses JSON of an app. A number that a double cannot hold exactly (such as an id of 19 digits) becomes a text with its digits. Throws a
 * SyntaxError if the text is not JSON.
 */
export function parseKeepingDigits(text: string): unknown {
  return JSON.parse(text.replace(textOrNumber, (token) => (isKept(token) ? token : `"${token}"`)));
}

/** Matches a text in quotes, or a number. Node 20 gives a reviver no source of a number, so the numbers are found before JSON.parse. */
const textOrNumber = /"(?:\\.|[^"\\])*"|-?\d[\d.eE+-]*/g;

function isKept(token: string): boolean {
  if (token.startsWith('"')) return true;
  return isExactDouble(token) && (Math.abs(Number(token)) <= Number.MAX_SAFE_INTEGER || /[eE]/.test(token));
}

/**
 * Returns the JSON Schema in a field such as `inputSchemaJson` of a tool. Returns `{}`, which accepts any value, if the text is empty or
 * holds no object. Throws a SyntaxError if the text is not JSON.
 */
export function schemaOf(text: string): Readonly<Record<string, unknown>> {
  // Numbers stay numbers, because a text is no valid limit in a schema.
  const schema: unknown = text === "" ? {} : JSON.parse(text);
  return isObject(schema) ? schema : {};
}

/** True if a value is an object and no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
