import { type DescField, type DescMessage, isMessage } from "@bufbuild/protobuf";
import { reflect, reflectList, reflectMap } from "@bufbuild/protobuf/reflect";
import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "@svc/gen/errors";
import { closest, distance } from "fastest-levenshtein";

/**
 * Throws a ConnectError (invalid_argument REQUEST_MALFORMED) if the request `value` has an unknown field, or a field with a value of the
 * wrong type. Without this check, a misspelt field in JavaScript code without types would silently not be sent. Null and undefined count as
 * missing.
 */
export function checkRequest(desc: DescMessage, value: unknown): void {
  checkMessage(desc, value, "");
}

/** Returns the known name that is most similar to `name`. Returns undefined if no known name is similar. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
  const plain = plainOf(name);
  const best = closest(plain, known.map(plainOf));
  const isNear = distance(plain, best) <= Math.max(1, Math.floor(Math.max(plain.length, best.length) / 3));
  return isNear ? known.find((candidate) => plainOf(candidate) === best) : undefined;
}

function checkMessage(desc: DescMessage, value: unknown, path: string): void {
  if (!isFields(value)) {
    throw malformed(path, `expected the fields of ${desc.name}, got ${describe(value)}`, exampleOf(desc));
  }
  if (isMessage(value) && value.$typeName !== desc.typeName) {
    throw malformed(path, `expected ${desc.name}, got a message ${value.$typeName}`, "");
  }
  for (const [name, given] of Object.entries(value)) {
    if (given === undefined || given === null || name === "$typeName" || name === "$unknown") continue;
    const field = desc.fields.find(({ localName }) => localName === name);
    if (field === undefined) throw unknownField(desc, name, path);
    checkField(field, given, path === "" ? name : `${path}.${name}`);
  }
}

function checkField(field: DescField, value: unknown, path: string): void {
  switch (field.fieldKind) {
    case "message":
      checkMessage(field.message, value, path);
      return;
    case "list":
      if (!Array.isArray(value)) throw malformed(path, `expected a list, got ${describe(value)}`, "");
      for (const [index, item] of value.entries()) {
        const itemPath = `${path}[${index}]`;
        if (field.listKind === "message") checkMessage(field.message, item, itemPath);
        else checkValue(itemPath, () => reflectList(field).add(item));
      }
      return;
    case "map":
      if (!isFields(value)) throw malformed(path, `expected an object, got ${describe(value)}`, "");
      for (const [key, item] of Object.entries(value)) {
        const itemPath = `${path}.${key}`;
        if (field.mapKind === "message") checkMessage(field.message, item, itemPath);
        else checkValue(itemPath, () => reflectMap(field).set(key, item));
      }
      return;
    default:
      checkValue(path, () => reflect(field.parent).set(field, value));
  }
}

/**
 * Sets a field of a message with `set`. Throws a REQUEST_MALFORMED error for the field at `path` if the Protobuf library refuses the value.
 */
function checkValue(path: string, set: () => void): void {
  try {
    set();
  } catch (err) {
    throw malformed(path, err instanceof Error ? err.message : String(err), "");
  }
}

/**
 * True if a value is an object with named fields. False for a list, a date or a map, which a message would treat as an object without
 * fields.
 */
function isFields(value: unknown): value is object {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.keys(value).length > 0;
}

function unknownField(desc: DescMessage, name: string, path: string): ConnectError {
  const known = desc.fields.map(({ localName }) => localName);
  const near = nearestName(name, known);
  const has = known.length === 0 ? `${desc.name} has no fields.` : `${desc.name} has the fields ${known.join(", ")}.`;
  return malformed(
    path === "" ? name : `${path}.${name}`,
    `the field is unknown, so nothing was sent${near === undefined ? "" : `: did you mean ${near}?`}`,
    has,
  );
}

function malformed(field: string, fault: string, help: string): ConnectError {
  const value = { reason: "REQUEST_MALFORMED", field, help };
  const message = `${field === "" ? "the request" : field}: ${fault}`;
  return new ConnectError(help === "" ? message : `${message}. ${help}`, Code.InvalidArgument, undefined, [
    { desc: ErrorDetailSchema, value },
  ]);
}

function exampleOf(desc: DescMessage): string {
  if (desc.typeName === "google.protobuf.Timestamp") return "Write timestampFromDate(new Date()).";
  if (desc.typeName === "google.protobuf.Duration") return "Write { seconds: 60n }.";
  return "";
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? `a ${value.constructor.name}` : `a ${typeof value}`;
}

/** Returns the text in lower case without separators. `nearestName` ignores case and separators, because most mistakes are in these. */
function plainOf(text: string): string {
  return text.toLowerCase().replaceAll(/[\s_-]/g, "");
}
