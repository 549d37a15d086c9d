/** Several words with one meaning, such as `put * on ice`. `*` stands for the object. */
type Idiom = { readonly parts: readonly string[]; readonly meaning: readonly string[] };

/**
 * Idioms (phrases of several words with one meaning, such as `get rid of`), by their first word. Longer idioms come first; among equally
 * long ones, those without `*` come first.
 */
export type Idioms = ReadonlyMap<string, readonly Idiom[]>;

/**
 * A word of a query. If it replaces an idiom (a phrase with one meaning, such as `get rid of`), `word` is the meaning of the idiom, and
 * `origin` is the first word of the idiom.
 */
export type ReadWord = { readonly word: string; readonly origin: string | undefined };

const gap = "*";
/** Maximum number of other words between the parts of an idiom (for example between `put` and `on hold` in `put * on hold`). */
const gapMax = 5;

/**
 * Returns the idioms (phrases of several words) of a vocabulary, grouped by their first word. `texts`: for each meaning, one text that
 * lists the idioms with this meaning, separated by commas. `partsOf`: splits one idiom into its parts.
 */
export function collectIdioms(
  texts: Readonly<Record<string, string>>,
  partsOf: (idiom: string) => readonly string[],
): Idioms {
  const idioms = Object.entries(texts).flatMap(([meaning, text]) =>
    text.split(", ").map((idiom) => ({ parts: partsOf(idiom), meaning: meaning.split(" ") })),
  );
  return Map.groupBy(
    idioms.toSorted((a, b) => wordCount(b) - wordCount(a) || a.parts.length - b.parts.length),
    ({ parts }) => parts[0] ?? "",
  );
}

function wordCount({ parts }: Idiom): number {
  return parts.filter((part) => part !== gap).length;
}

/**
 * Returns the words of a query, in which each idiom (a phrase such as `get rid of`) is replaced by its meaning. `formsOf`: returns all
 * forms of a word to compare with the words of the idioms.
 */
export function readIdioms(
  words: readonly string[],
  idioms: Idioms,
  formsOf: (word: string) => readonly string[],
): readonly ReadWord[] {
  const forms = words.map(formsOf);
  const dropped = new Set<number>();
  return words.flatMap((word, start): readonly ReadWord[] => {
    if (dropped.has(start)) return [];
    const candidates = [...new Set(forms[start])].flatMap((form) => idioms.get(form) ?? []);
    for (const { parts, meaning } of candidates) {
      const places = placesOf(parts, forms, start);
      if (places === undefined || places.some((place) => dropped.has(place))) continue;
      for (const place of places) dropped.add(place);
      return meaning.map((meant) => ({ word: meant, origin: word }));
    }
    return [{ word, origin: undefined }];
  });
}

/** Returns the positions of an idiom's words in a query, if the idiom starts at the given word. Undefined if it does not start there. */
function placesOf(
  parts: readonly string[],
  forms: readonly (readonly string[])[],
  start: number,
): readonly number[] | undefined {
  const places = [start];
  let at = start + 1;
  let isOpen = false;
  for (const part of parts.slice(1)) {
    if (part === gap) {
      isOpen = true;
      continue;
    }
    const last = isOpen ? at + gapMax : at;
    while (at <= last && !(forms[at]?.includes(part) ?? false)) at++;
    if (at > last) return undefined;
    places.push(at++);
    isOpen = false;
  }
  return places;
}
