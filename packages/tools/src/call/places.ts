/** Of a longer part the search of the engine may take the product of both lengths, where text and part repeat one letter. */
const engineMax = 256;

/** Where a part stands in a text, from its beginning on, without those that overlap the one before. Takes no more than a few steps a character. */
export function placesOf(text: string, part: string): number[] {
  if (part.length > engineMax) return longPlacesOf(text, part);
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

/** A text without the beginning of a long part is not gone through for it. */
const beginMax = 32;

/** By Knuth, Morris and Pratt: no character of the text is looked at more than twice. */
function longPlacesOf(text: string, part: string): number[] {
  if (!text.includes(part.slice(0, beginMax))) return [];
  const borders = bordersOf(part);
  const places: number[] = [];
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (part.charCodeAt(length) === unit) length++;
    if (length < part.length) continue;
    places.push(at + 1 - length);
    length = 0;
  }
  return places;
}

/** For each beginning of a text the length of the longest shorter one that it ends with. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length);
  let length = 0;
  for (let at = 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    while (length > 0 && text.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (text.charCodeAt(length) === unit) length++;
    borders[at] = length;
  }
  return borders;
}
