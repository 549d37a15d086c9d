import { type DescField, type DescMessage, type JsonValue, type Message, toJson } from "@bufbuild/protobuf";
import { isShared } from "@svc/core";

/**
 * Called between the parts of a long API answer that is written as JSON, so that other work can run. Resolves when the writing may
 * continue. Undefined if it may continue at once.
 */
export type TakeTurn = () => Promise<void> | undefined;

/** Options of writing messages as JSON. */
type JsonOptions = { readonly alwaysEmitImplicit: boolean };

type ListField = DescField & { readonly fieldKind: "list"; readonly listKind: "message" };
type MessageField = DescField & { readonly fieldKind: "message" };

/**
 * Fields of a message that are written as JSON in a special way. `list`: the first list of messages, which may be long. `parts`: fields
 * with one message, whose JSON may be used again.
 */
type Shape = { readonly list: ListField | undefined; readonly parts: readonly MessageField[] };

const shapes = new WeakMap<DescMessage, Shape>();
/** Cached JSON texts of messages that several lists share, so that each text is created only once. */
const texts = new WeakMap<object, string>();

/** Number of items of a long list that are written as JSON before the function checks if its time slice has ended. */
const itemsBetweenLooks = 16;
const timeSliceMs = 4;
/** Maximum number of items in a list that is written without pauses. */
const shortMax = 16;

/** Returns a message as JSON. A long list is written in parts of a few milliseconds, so that other work can run in between. */
export function writeJson(
  desc: DescMessage,
  message: Message,
  options: JsonOptions,
  takeTurn: TakeTurn,
): Buffer | Promise<Buffer> {
  const { list } = shapeOf(desc);
  if (list !== undefined) {
    const items = (message as unknown as Record<string, Message[]>)[list.localName] ?? [];
    if (items.length > shortMax) return writeLong(desc, message, { list, items, options, takeTurn });
  }
  const isLong = Object.values(message).some((value) => typeof value === "string" && value.length > longTextMin);
  return isLong ? writeLongTexts(desc, message, options, takeTurn) : Buffer.from(textOf(desc, message, options));
}

/** Number of characters from which a text is written in pieces, because a megabyte blocks the event loop for about 8 ms. */
const longTextMin = 262_144;
/** Number of characters in each piece of a long text. */
const pieceLength = 65_536;
const quote = Buffer.from('"');

/** Writes a message that has a long text, such as a document. */
async function writeLongTexts(
  desc: DescMessage,
  message: Message,
  options: JsonOptions,
  takeTurn: TakeTurn,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let startedMs = performance.now();
  for (const [name, value] of Object.entries(toJson(desc, message, options) as Record<string, JsonValue>)) {
    chunks.push(Buffer.from(`${chunks.length === 0 ? "{" : ","}${JSON.stringify(name)}:`));
    if (typeof value !== "string") {
      chunks.push(Buffer.from(JSON.stringify(value)));
      continue;
    }
    chunks.push(quote);
    for (let [from, to] = [0, 0]; from < value.length; from = to) {
      to = endOfPiece(value, from);
      chunks.push(Buffer.from(JSON.stringify(value.slice(from, to)).slice(1, -1)));
      if (performance.now() - startedMs < timeSliceMs) continue;
      await takeTurn();
      startedMs = performance.now();
    }
    chunks.push(quote);
  }
  return Buffer.concat([...chunks, Buffer.from("}")]);
}

/** Returns the end of a piece of a text. It is never in the middle of a character. */
function endOfPiece(text: string, from: number): number {
  const end = from + pieceLength;
  const isInside = text.charCodeAt(end - 1) >>> 10 === 0x36 && text.charCodeAt(end) >>> 10 === 0x37;
  return isInside ? end - 1 : end;
}

/**
 * Size of an answer in characters from which it is written in the queue of long work. Writing such an answer as JSON takes longer than
 * waiting in this queue.
 */
const largeMin = 16_384;

/** True if writing a message may take a millisecond or more, estimated from its lists and texts, and those of the messages inside it. */
export function isLarge(desc: DescMessage, message: Message): boolean {
  const { list, parts } = shapeOf(desc);
  const fields = message as unknown as Readonly<Record<string, unknown>>;
  if (list !== undefined && (fields[list.localName] as unknown[]).length > 0) return true;
  let characters = textLength(fields);
  for (const { localName } of parts) characters += textLength(fields[localName] as Record<string, unknown> | undefined);
  return characters > largeMin;
}

function textLength(fields: Readonly<Record<string, unknown>> | undefined): number {
  let characters = 0;
  if (fields !== undefined) {
    for (const name in fields) {
      const value = fields[name];
      if (typeof value === "string") characters += value.length;
    }
  }
  return characters;
}

type LongList = {
  readonly list: NonNullable<Shape["list"]>;
  readonly items: readonly Message[];
  readonly options: JsonOptions;
  readonly takeTurn: TakeTurn;
};

async function writeLong(
  desc: DescMessage,
  message: Message,
  { list, items, options, takeTurn }: LongList,
): Promise<Buffer> {
  const bare = without(message, { [list.localName]: [] });
  const shell = toJson(desc, bare, { ...options, alwaysEmitImplicit: true }) as Record<string, JsonValue>;
  const chunks: Buffer[] = [];
  let text = "{";
  let startedMs = performance.now();
  for (const [index, [name, value]] of Object.entries(shell).entries()) {
    text += `${index === 0 ? "" : ","}${JSON.stringify(name)}:`;
    if (name !== list.jsonName) {
      text += JSON.stringify(value);
      continue;
    }
    text += "[";
    for (const [place, item] of items.entries()) {
      text += place === 0 ? textOf(list.message, item, options) : `,${textOf(list.message, item, options)}`;
      if (place % itemsBetweenLooks !== 0 || performance.now() - startedMs < timeSliceMs) continue;
      chunks.push(Buffer.from(text));
      text = "";
      const turn = takeTurn();
      if (turn !== undefined) await turn;
      startedMs = performance.now();
    }
    text += "]";
  }
  chunks.push(Buffer.from(`${text}}`));
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/**
 * Returns the JSON text of a message. If the message is marked as shared (part of many answers), its text is made once and then taken from
 * a cache. The same applies to shared messages in its fields.
 */
function textOf(desc: DescMessage, message: Message, options: JsonOptions): string {
  if (!isShared(message)) return newText(desc, message, options);
  const known = texts.get(message);
  if (known !== undefined) return known;
  const text = newText(desc, message, options);
  texts.set(message, text);
  return text;
}

function newText(desc: DescMessage, message: Message, options: JsonOptions): string {
  const fields = message as unknown as Readonly<Record<string, Message | undefined>>;
  const shared = shapeOf(desc).parts.filter(({ localName }) => isSharedPart(fields[localName]));
  if (shared.length === 0) return JSON.stringify(toJson(desc, message, options));
  const bare = without(message, Object.fromEntries(shared.map(({ localName }) => [localName, undefined])));
  const shell = toJson(desc, bare, options) as Record<string, JsonValue>;
  const members = desc.fields.flatMap((field) => {
    const part = shared.find(({ number }) => number === field.number);
    const value = part === undefined ? shell[field.jsonName] : fields[part.localName];
    if (value === undefined) return [];
    const text = part === undefined ? JSON.stringify(value) : textOf(part.message, value as Message, options);
    return [`${JSON.stringify(field.jsonName)}:${text}`];
  });
  return `{${members.join(",")}}`;
}

function isSharedPart(part: Message | undefined): boolean {
  return part !== undefined && isShared(part);
}

/** Returns a copy of a message in which `fields` replace the fields of the same names. The value undefined removes a field. */
function without(message: Message, fields: Readonly<Record<string, unknown>>): Message {
  return Object.assign(Object.create(Object.getPrototypeOf(message)), message, fields) as Message;
}

function shapeOf(desc: DescMessage): Shape {
  let shape = shapes.get(desc);
  if (shape === undefined) {
    const list = desc.fields.find((field) => field.fieldKind === "list" && field.listKind === "message");
    const parts = desc.fields.filter((field) => field.fieldKind === "message" && field.oneof === undefined);
    shape = { list: list as Shape["list"], parts: parts as MessageField[] };
    shapes.set(desc, shape);
  }
  return shape;
}
