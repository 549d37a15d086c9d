import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";

// Node supports raw JSON (ECMAScript's JSON.parse source text access), but the compiler's library does not declare it yet.
const json = JSON as JSON & { rawJSON(text: string): object };

/**
 * Parses JSON and returns its value. Every number stays as it is written, because ids of some apps are integers that a double cannot
 * represent. Throws SyntaxError.
 */
export function parseKeepingNumbers(text: string): unknown {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && context?.source !== undefined ? json.rawJSON(context.source) : value,
  );
}

/**
 * Returns JSON text with indentation over several lines. Numbers stay as they are written. A text that is not JSON is returned unchanged.
 */
export function indentJson(text: string): string {
  try {
    return JSON.stringify(parseKeepingNumbers(text), undefined, 2);
  } catch {
    return text;
  }
}

// Prints fields that are not set too, as the server's own answers do.
const jsonOptions = { alwaysEmitImplicit: true };

/** Returns an API message as JSON text over several lines, for display on the terminal. */
export function messageText<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): string {
  return JSON.stringify(toJson(schema, message, jsonOptions), undefined, 2);
}

/** Returns an API message as JSON text in one line. */
export function messageLine<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): string {
  return JSON.stringify(toJson(schema, message, jsonOptions));
}

/** Returns API messages as the text of one JSON list. */
export function messageListText<Desc extends DescMessage>(
  schema: Desc,
  messages: readonly MessageShape<Desc>[],
): string {
  const values = messages.map((message) => toJson(schema, message, jsonOptions));
  return JSON.stringify(values, undefined, 2);
}
