import { pageWords } from "./page-words.ts";

/** The part of a JSON text to which a pointer points, as offsets into the text. */
type TextRange = { from: number; to: number };

/**
 * Returns the range of a JSON Pointer's value in a JSON text, including the name of the member. If the value is missing, returns the range
 * of its nearest existing ancestor. Returns the whole text if the pointer is empty or the text is not JSON.
 */
export function locatePointer(text: string, pointer: string): TextRange {
  const steps = pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  let range: TextRange = { from: 0, to: text.length };
  let at = skip(text, 0);
  for (const step of steps) {
    const next = memberOf(text, at, step);
    if (next === undefined) break;
    range = next.range;
    at = next.value;
  }
  return range;
}

/**
 * Finds the member or item `name` of the object or list that starts at the offset `at`. Returns its range in the text, and the offset of
 * its value.
 */
function memberOf(text: string, at: number, name: string): { range: TextRange; value: number } | undefined {
  const isObject = text[at] === "{";
  if (!isObject && text[at] !== "[") return undefined;
  let place = skip(text, at + 1);
  for (let index = 0; place < text.length && text[place] !== "}" && text[place] !== "]"; index += 1) {
    const from = place;
    let found = String(index) === name;
    if (isObject) {
      const keyEnd = endOfString(text, place);
      found = readString(text.slice(place, keyEnd)) === name;
      place = skip(text, skip(text, keyEnd) + 1);
    }
    const to = endOfValue(text, place);
    if (to <= place) return undefined;
    if (found) return { range: { from, to }, value: place };
    place = skip(text, to);
    if (text[place] === ",") place = skip(text, place + 1);
  }
  return undefined;
}

function skip(text: string, at: number): number {
  let place = at;
  while (place < text.length && " \t\r\n".includes(text[place] ?? "")) place += 1;
  return place;
}

/** Returns the offset after the end of the quoted text that starts at the offset `at`. */
function endOfString(text: string, at: number): number {
  for (let place = at + 1; place < text.length; place += 1) {
    if (text[place] === "\\") place += 1;
    else if (text[place] === '"') return place + 1;
  }
  return text.length;
}

function endOfValue(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return endOfString(text, at);
  if (first !== "{" && first !== "[") {
    let place = at;
    while (place < text.length && !",]} \t\r\n".includes(text[place] ?? "")) place += 1;
    return place;
  }
  let depth = 0;
  for (let place = at; place < text.length; place += 1) {
    const char = text[place] ?? "";
    if (char === '"') place = endOfString(text, place) - 1;
    else if ("{[".includes(char)) depth += 1;
    else if ("}]".includes(char)) depth -= 1;
    if (depth === 0) return place + 1;
  }
  return text.length;
}

function readString(text: string): string | undefined {
  try {
    return JSON.parse(text) as string;
  } catch {
    // The text is not valid JSON, because the user is still typing it. So no part of it belongs to the pointer.
    return undefined;
  }
}

/** An error in a JSON text, as the service reports it. `pointer`: the JSON Pointer of the wrong value. */
type TextFault = { reason: string; pointer: string; message: string; help: string };

/**
 * An error with its position in the text. `line`: number of the line. `mark`: the offsets of the text to mark, and the message to show
 * there.
 */
export type PlacedFault = TextFault & { id: string; line: number; mark: { from: number; to: number; text: string } };

/** Returns errors with their positions in a JSON text, in the order of the text. */
export function placeFaults(text: string, faults: readonly TextFault[]): PlacedFault[] {
  return faults
    .map((fault, index) => {
      const { reason, pointer, message } = fault;
      const help = pageWords(fault.help);
      const { from, to } = locatePointer(text, pointer);
      const lineEnd = text.indexOf("\n", from);
      // The mark ends at the end of its first line, because a mark over a whole step would colour too much text.
      const end = lineEnd === -1 ? to : Math.min(to, lineEnd);
      const line = text.slice(0, from).split("\n").length;
      const says = help === "" || help === message ? message : `${message}\n${help}`;
      return { ...fault, help, id: `${index} ${reason} ${pointer}`, line, mark: { from, to: end, text: says } };
    })
    .sort((a, b) => a.mark.from - b.mark.from);
}
