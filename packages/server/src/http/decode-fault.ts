import type { DescMessage } from "@bufbuild/protobuf";
import { nearest } from "@svc/catalog/nearest";
import { type Fault, formatValue } from "@svc/core";
import { serverFaults } from "../errors.ts";

/** Says in the words of this API what the decoder found wrong with a request: which field, and what would be right. */
export function decodeFault(message: string, input: DescMessage): Fault {
  return unknownKey(message, input) ?? faultyField(message, input) ?? malformed(message);
}

/** Characters that are told of an unknown name, and of what the decoder says. */
const keyMax = 200;
const messageMax = 1_000;

/** What the decoder says, which may quote a value of any length. */
function cut(text: string): string {
  return text.length > messageMax ? `${text.slice(0, messageMax).toWellFormed()}...` : text;
}

/** `cannot decode message svc.v1.X from JSON: key "nope" is unknown` */
function unknownKey(message: string, input: DescMessage): Fault | undefined {
  const match = /^cannot decode (?:message )?([\w.]+) from JSON: key "(.*)" is unknown$/s.exec(message);
  if (match === null) return undefined;
  const [, typeName = "", key = ""] = match;
  const names = findMessage(input, typeName)?.fields.map((field) => field.jsonName) ?? [];
  const near = nearest(key, names);
  const meant = near === undefined ? "" : `Did you mean ${near}? `;
  const help =
    names.length === 0
      ? `${shortName(typeName)} has no fields.`
      : `${meant}${shortName(typeName)} has the fields ${names.join(", ")}.`;
  // A name may be as long as the request.
  return serverFaults.REQUEST_MALFORMED({
    field: key.slice(0, keyMax).toWellFormed(),
    message: `field ${formatValue(key)} is unknown`,
    help,
  });
}

/** `cannot decode field svc.v1.X.page_size from JSON: expected number, got "a"` */
function faultyField(message: string, input: DescMessage): Fault | undefined {
  const match = /^cannot decode (?:field|oneof) ([\w.]+)\.(\w+) from JSON: (.*)$/s.exec(message);
  if (match === null) return undefined;
  const [, typeName = "", name = "", what = ""] = match;
  const field = findMessage(input, typeName)?.fields.find((candidate) => candidate.name === name)?.jsonName ?? name;
  return serverFaults.REQUEST_MALFORMED({ field, message: `${field}: ${cut(what)}` });
}

function malformed(message: string): Fault {
  return serverFaults.REQUEST_MALFORMED({
    message: cut(message),
    help: "Send one JSON object with the fields of the request, `{}` when there are none.",
  });
}

/** The message type of this name among a request and what it holds. */
function findMessage(desc: DescMessage, typeName: string, seen = new Set<DescMessage>()): DescMessage | undefined {
  if (desc.typeName === typeName) return desc;
  seen.add(desc);
  for (const { message } of desc.fields) {
    const found = message === undefined || seen.has(message) ? undefined : findMessage(message, typeName, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

function shortName(typeName: string): string {
  return typeName.slice(typeName.lastIndexOf(".") + 1);
}
