const quote = 0x22;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/**
 * Whether a JSON text, as it came, is nested deeper than so many levels. One pass over its bytes, without parsing: a parser takes
 * any depth, and takes long for it.
 */
export function isNestedDeeper(json: Uint8Array, depthMax: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === quote) at = endOfText(json, at);
    else if (byte === openList || byte === openObject) {
      if (++depth > depthMax) return true;
    } else if (byte === closeList || byte === closeObject) depth--;
  }
  return false;
}

/** Where the text ends that begins at `start`. */
function endOfText(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1;
  return at;
}
