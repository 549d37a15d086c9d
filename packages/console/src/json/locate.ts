/** A part of a JSON text, as offsets into the text. `from`: start of the member's name, or of the item. `value`: start of the value. */
export type JsonPart = { readonly name: string; readonly from: number; readonly value: number; readonly to: number };

/** Returns the steps of a JSON Pointer (RFC 6901): names of members and indexes of items. */
export function stepsOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * Returns the range of a JSON Pointer's value in a JSON text, including the name of the member. If the value is missing, returns the range
 * of its nearest existing ancestor. Returns the whole text if the pointer is empty or the text is not JSON.
 */
export function locatePointer(text: string, pointer: string): { from: number; to: number } {
  let range = { from: 0, to: text.length };
  let at = skip(text, 0);
  for (const step of stepsOf(pointer)) {
    const next = partNamed(text, at, step);
    if (next === undefined) break;
    range = { from: next.from, to: next.to };
    at = next.value;
  }
  return range;
}

/** Returns the part of a JSON text to which a pointer points. Undefined if there is no such value. The empty pointer is the whole value. */
export function findPart(text: string, pointer: string): JsonPart | undefined {
  const start = skip(text, 0);
  let part: JsonPart | undefined = { name: "", from: start, value: start, to: endOfValue(text, start) };
  for (const step of stepsOf(pointer)) {
    part = partNamed(text, part.value, step);
    if (part === undefined) return undefined;
  }
  return part;
}

/** Returns the members or items of the object or list that starts at the offset `at`, in order. Empty for any other value. */
export function partsOf(text: string, at: number): JsonPart[] {
  return [...eachPart(text, at)];
}

function partNamed(text: string, at: number, name: string): JsonPart | undefined {
  for (const part of eachPart(text, at)) if (part.name === name) return part;
  return undefined;
}

/** Walks over the members of an object, or over the items of a list, whose names are their indexes. No value is parsed. */
function* eachPart(text: string, at: number): Generator<JsonPart> {
  const isObject = text[at] === "{";
  if (!isObject && text[at] !== "[") return;
  let place = skip(text, at + 1);
  for (let index = 0; place < text.length && text[place] !== "}" && text[place] !== "]"; index += 1) {
    const from = place;
    let name: string | undefined = String(index);
    if (isObject) {
      const keyEnd = endOfString(text, place);
      name = readString(text.slice(place, keyEnd));
      place = skip(text, skip(text, keyEnd) + 1);
    }
    const to = endOfValue(text, place);
    if (to <= place) return;
    if (name !== undefined) yield { name, from, value: place, to };
    place = skip(text, to);
    if (text[place] === ",") place = skip(text, place + 1);
  }
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
