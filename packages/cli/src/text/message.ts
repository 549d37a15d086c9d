import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";

// Unset fields too, as the server answers them.
const jsonOptions = { alwaysEmitImplicit: true };

/** A message as JSON text over several lines. */
export function messageText<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): string {
  return JSON.stringify(toJson(schema, message, jsonOptions), undefined, 2);
}

/** A message as JSON text in one line. */
export function messageLine<Desc extends DescMessage>(schema: Desc, message: MessageShape<Desc>): string {
  return JSON.stringify(toJson(schema, message, jsonOptions));
}

/** Messages as the text of a JSON list. */
export function messageListText<Desc extends DescMessage>(
  schema: Desc,
  messages: readonly MessageShape<Desc>[],
): string {
  const values = messages.map((message) => toJson(schema, message, jsonOptions));
  return JSON.stringify(values, undefined, 2);
}
