import type { DescEnum, DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";
import type { Interceptor } from "@connectrpc/connect";
import { serverFaults } from "../errors.ts";

/**
 * Function that checks a request message of one type, and throws a fault. `path`: prefix for the names of the message's fields in the
 * fault.
 */
type Check = (message: Record<string, unknown>, path: string) => void;

const checks = new Map<DescMessage, Check>();

/**
 * Throws a fault for values that the contract's types allow but no call supports: enum numbers without a name (ENUM_VALUE_UNKNOWN); texts
 * with U+0000, which PostgreSQL cannot store, and times out of range (both REQUEST_MALFORMED).
 */
export function checkRequest(desc: DescMessage, message: Message): void {
  checkOf(desc)(message as unknown as Record<string, unknown>, "");
}

/**
 * Interceptor that checks each message of a stream when it arrives. A unary request (one message) is checked right after its body is
 * decoded.
 */
export const requestInterceptor: Interceptor = (next) => (req) =>
  next(req.stream ? { ...req, message: checkEach(req.message, checkOf(req.method.input)) } : req);

async function* checkEach<Message>(messages: AsyncIterable<Message>, check: Check): AsyncGenerator<Message> {
  for await (const message of messages) {
    check(message as Record<string, unknown>, "");
    yield message;
  }
}

/** Returns the function that checks the fields of a request message of this type. The function is created when it is first needed. */
function checkOf(desc: DescMessage): Check {
  const known = checks.get(desc);
  if (known !== undefined) return known;
  const fields: Check[] = [];
  // The check of this message type is stored in `checks` before its fields are examined. A message may contain a message of its own type,
  // and the check of that type must then already exist.
  const check: Check = (message, path) => {
    for (const field of fields) field(message, path);
  };
  checks.set(desc, check);
  for (const field of desc.fields) {
    const made = checkField(field);
    if (made !== undefined) fields.push(made);
  }
  return check;
}

function checkField(field: DescField): Check | undefined {
  const checkValue = valueCheck(field);
  if (checkValue === undefined) return undefined;
  const { localName, jsonName, oneof } = field;
  return (message, path) => {
    const value = oneof === undefined ? message[localName] : memberOf(message[oneof.localName], localName);
    if (value === undefined) return;
    const name = `${path}${jsonName}`;
    if (field.fieldKind === "list") checkItems(value as unknown[], name, checkValue);
    else if (field.fieldKind === "map") checkEntries(value as Record<string, unknown>, name, checkValue);
    else checkValue(value, name);
  };
}

type ValueCheck = (value: unknown, name: string) => void;

function valueCheck(field: DescField): ValueCheck | undefined {
  if (field.enum !== undefined) return (value, name) => checkEnum(field.enum, value, name);
  const { message } = field;
  if (message !== undefined) {
    if (message.typeName === TimestampSchema.typeName) return checkTime;
    if (message.typeName.startsWith("google.protobuf.")) return undefined;
    return (value, name) => checkOf(message)(value as Record<string, unknown>, `${name}.`);
  }
  return checkText;
}

function checkItems(items: readonly unknown[], name: string, checkValue: ValueCheck): void {
  for (const [index, item] of items.entries()) checkValue(item, `${name}[${index}]`);
}

function checkEntries(entries: Record<string, unknown>, name: string, checkValue: ValueCheck): void {
  for (const [key, value] of Object.entries(entries)) {
    checkText(key, `a key of ${name}`);
    checkValue(value, `${name}["${key}"]`);
  }
}

function checkEnum(desc: DescEnum | undefined, value: unknown, name: string): void {
  if (desc === undefined || typeof value !== "number" || desc.value[value] !== undefined) return;
  throw serverFaults.ENUM_VALUE_UNKNOWN(
    name,
    value,
    desc.values.map((known) => known.name),
  );
}

function checkText(value: unknown, name: string): void {
  if (typeof value !== "string" || !value.includes("\0")) return;
  throw serverFaults.REQUEST_MALFORMED({
    field: name,
    message: `${name} contains the character U+0000`,
    help: "Send a text without it.",
  });
}

const firstSecond = -62_135_596_800n; // Smallest allowed time, 0001-01-01T00:00:00Z, in seconds since 1970.
const lastSecond = 253_402_300_799n; // Largest allowed time, 9999-12-31T23:59:59Z, in seconds since 1970.

/** Throws a fault if a time is out of range. Only the binary form can contain such a time. */
function checkTime(value: unknown, name: string): void {
  const { seconds, nanos } = value as Timestamp;
  if (seconds >= firstSecond && seconds <= lastSecond && nanos >= 0 && nanos < 1e9) return;
  throw serverFaults.REQUEST_MALFORMED({
    field: name,
    message: `${name} is not a time between the years 1 and 9999`,
    help: "Send a time in that range.",
  });
}

/** Returns the value of a oneof if the field `localName` is set in it; otherwise undefined. */
function memberOf(oneof: unknown, localName: string): unknown {
  const set = oneof as { case?: string; value?: unknown } | undefined;
  return set?.case === localName ? set.value : undefined;
}
