/** Kinds of marked parts in an error text: name of a call, request field, waiting time, number of errors. */
export type PartKind = keyof typeof partNumbers;

/**
 * Parts of an error text are marked by their kind (for example a call of the API). This table has the number by which messages on the wire
 * name each kind.
 */
const partNumbers = { call: 1, field: 2, wait: 3, count: 4 } as const;

/** A part of an error text, as it is sent to the client. The part begins at `start` and has `length` UTF-16 code units. */
type WirePart<Kind> = { readonly kind: Kind; readonly start: number; readonly length: number };

/** A named part of a text: it begins at `start` and has `length` UTF-16 code units. */
export type TextPart = { readonly kind: PartKind; readonly start: number; readonly length: number };

/**
 * A text in which some parts are named, such as a call or a field. Each surface (HTTP, command line, console, MCP) writes these parts in
 * its own words.
 */
export class PartedText {
  readonly text: string;
  readonly parts: readonly TextPart[];

  constructor(plain: string, parts: readonly TextPart[] = []) {
    this.text = plain;
    this.parts = parts;
  }

  /** Returns the text as HTTP responses show it. It contains the API's own names of calls and fields. */
  toString(): string {
    return this.text;
  }
}

/** A text of a fault: a plain string, or the result of `text`. */
export type FaultText = string | PartedText;

/** A template tag that returns an error text. Values made by `call`, `field`, `wait` and `count` become marked parts of this text. */
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

/**
 * Returns a text that names a call of the API as the API's definition names it (for example `SubmitJob`). `how`: an example request (shown
 * as JSON), or words that describe the request.
 */
export function call(name: string, how?: string | Readonly<Record<string, unknown>>): PartedText {
  if (how === undefined) return whole("call", name);
  return whole("call", `${name} ${typeof how === "string" ? how : spacedJson(how)}`);
}

/**
 * Returns a text that names a request field, such as `limit.rate.max`. HTTP answers show `path` unchanged. The command line and the console
 * may use other words.
 */
export function field(path: string): PartedText {
  return whole("field", path);
}

/** Text for the waiting time before a retry. In HTTP answers it refers to the header Retry-After. Other surfaces show the time. */
export const wait = waitAs("after the time of Retry-After");

/**
 * Returns a waiting time as a marked part of an error text. HTTP responses show `phrase`. The command line and the console show the time.
 */
export function waitAs(phrase: string): PartedText {
  return whole("wait", phrase);
}

/** Returns the total number of errors as text, in a part named `count`. */
export function count(faults: number): PartedText {
  return whole("count", String(faults));
}

/**
 * Returns a fault's text as PartedText (a text with named parts, such as the name of a call). A plain string becomes a PartedText without
 * named parts.
 */
export function partedOf(written: FaultText): PartedText {
  return typeof written === "string" ? new PartedText(written) : written;
}

/** Returns a text in which each named part is replaced by the result of `write`. */
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
 * Returns the help texts of an error as one text, for readers who do not see HTTP headers.
 * - `seconds`: the waiting time that the text names. If no help text mentions a waiting time, a sentence with it is added. If `seconds` is
 *   undefined, nothing is added.
 * - `write`: returns the words for a part of a help text, such as a call or a field. It receives the index of the help text as its third
 *   argument.
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

/**
 * Returns the kind and position of each marked part of an error text, as the API sends them. A marked part is, for example, a call's name.
 */
export function wireParts({ parts }: PartedText): WirePart<(typeof partNumbers)[PartKind]>[] {
  return parts.map((part) => ({ ...part, kind: partNumbers[part.kind] }));
}

/** Makes an error text from its plain text and its marked parts, as the API sends them. Parts of an unknown kind become plain text. */
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

/** Returns an object as JSON on one line, with a space after each colon. */
function spacedJson(value: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(value, null, 1).replace(/\n */g, "");
}
