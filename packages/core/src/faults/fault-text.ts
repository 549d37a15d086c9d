/** Kinds of named parts: a call of the API, a field or a statement about it, a waiting time, and a number of faults. */
export type PartKind = keyof typeof partNumbers;

/** Their numbers on the wire. */
const partNumbers = { call: 1, field: 2, wait: 3, count: 4 } as const;

/** A part as in messages on the wire. */
type WirePart<Kind> = { readonly kind: Kind; readonly start: number; readonly length: number };

/** A named part of a text: `length` UTF-16 code units from `start`. */
export type TextPart = { readonly kind: PartKind; readonly start: number; readonly length: number };

/** A text with named parts in order: each surface writes the parts in its own words. */
export class PartedText {
  readonly text: string;
  readonly parts: readonly TextPart[];

  constructor(plain: string, parts: readonly TextPart[] = []) {
    this.text = plain;
    this.parts = parts;
  }

  /** The text as HTTP responses contain it. */
  toString(): string {
    return this.text;
  }
}

/** A text in a row of faults: plain, or made by `text`. */
export type FaultText = string | PartedText;

/** Returns a text with parts: the results of `call`, `field`, `wait` and `count` stay parts, also inside inner texts. */
export function text(strings: TemplateStringsArray, ...values: readonly (FaultText | number)[]): PartedText {
  let written = strings[0] ?? "";
  const parts: TextPart[] = [];
  for (const [index, value] of values.entries()) {
    const { text: said, parts: inner } = partedOf(typeof value === "number" ? String(value) : value);
    for (const part of inner) parts.push({ ...part, start: written.length + part.start });
    written += said + (strings[index + 1] ?? "");
  }
  return new PartedText(written, parts);
}

/** Returns a call of the API by its name in the contract, with an example request as JSON, or with words on how to make it. */
export function call(name: string, how?: string | Readonly<Record<string, unknown>>): PartedText {
  if (how === undefined) return whole("call", name);
  return whole("call", `${name} ${typeof how === "string" ? how : spacedJson(how)}`);
}

/** Returns a field of a request by its path, such as `limit.rate.max`, or a phrase about one that other surfaces word differently. */
export function field(path: string): PartedText {
  return whole("field", path);
}

/** The time to wait before a retry, which HTTP sends as a header. */
export const wait = waitAs("after the time of Retry-After");

/** The same in other words. */
export function waitAs(phrase: string): PartedText {
  return whole("wait", phrase);
}

/** Returns the number of faults; an answer may list fewer. */
export function count(faults: number): PartedText {
  return whole("count", String(faults));
}

/** Returns a text with parts; a plain text has none. */
export function partedOf(written: FaultText): PartedText {
  return typeof written === "string" ? new PartedText(written) : written;
}

/** Returns a text with each of its parts as `write` returns it. */
export function renderText(
  { text: plain, parts }: PartedText,
  write: (kind: PartKind, text: string) => string,
): string {
  let rendered = "";
  let at = 0;
  for (const { kind, start, length } of parts) {
    rendered += plain.slice(at, start) + write(kind, plain.slice(start, start + length));
    at = start + length;
  }
  return rendered + plain.slice(at);
}

/**
 * Returns advice for readers who see no headers: the wait is `seconds`, in its place or at the end. `write` returns the other parts and
 * gets the index of their text. Without `seconds`, the wait stays unchanged.
 */
export function renderAdvice(
  advice: readonly PartedText[],
  seconds: string | undefined,
  write: (kind: PartKind, text: string, index: number) => string,
): string {
  const waits = `after ${seconds} s`;
  const said = advice
    .map((one, index) =>
      renderText(one, (kind, part) => (kind === "wait" && seconds ? waits : write(kind, part, index))),
    )
    .filter((one) => one !== "")
    .join(" ");
  const isSaid = advice.some(({ parts }) => parts.some(({ kind }) => kind === "wait"));
  return seconds === undefined || isSaid ? said : `${said} Retry ${waits}.`.trimStart();
}

/** Returns the parts of a text as messages on the wire. */
export function wireParts({ parts }: PartedText): WirePart<(typeof partNumbers)[PartKind]>[] {
  return parts.map((part) => ({ ...part, kind: partNumbers[part.kind] }));
}

/** Returns a text with its parts from the wire. Omits parts of unknown kinds. */
export function textOfWire(plain: string, parts: readonly WirePart<number>[]): PartedText {
  const known = Object.entries(partNumbers) as [PartKind, number][];
  const read = parts.flatMap(({ kind: given, start, length }) =>
    known.flatMap(([kind, number]) => (number === given ? [{ kind, start, length }] : [])),
  );
  return new PartedText(plain, read);
}

function whole(kind: PartKind, said: string): PartedText {
  return new PartedText(said, [{ kind, start: 0, length: said.length }]);
}

/** JSON on one line, with a space after each colon. */
function spacedJson(value: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(value, null, 1).replace(/\n */g, "");
}
