/** What several words mean together, as `put * on ice` does; `*` stands for what it is done to. */
type Idiom = { readonly parts: readonly string[]; readonly meaning: readonly string[] };

/** Idioms under their first word, those of most words first, and of as many those without a gap. */
export type Idioms = ReadonlyMap<string, readonly Idiom[]>;

/** A word of a query, or one that an idiom means: then with the word that the idiom begins with. */
export type ReadWord = { readonly word: string; readonly origin: string | undefined };

const gap = "*";
/** Words between the parts of an idiom at most. */
const gapMax = 5;

/** Collects idioms from texts of them, parted by commas, under what they mean. */
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

/** Returns the words with the meaning of each idiom in the place of its first word, without its others. `formsOf` is what a word may be written as in an idiom. */
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

/** Where the words of an idiom stand that begins at a word; undefined if it is not said there. */
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
