import SearchableMap from "minisearch/SearchableMap";
import { isTime } from "./data-words.ts";
import { collectIdioms, type Idioms, type ReadWord, readIdioms } from "./idioms.ts";
import languages from "./languages.json" with { type: "json" };
import { englishWords, isEnglish } from "./spelling.ts";
import { cached, termOf, wordsOf } from "./words.ts";

/** Vocabulary of a language other than English: each word with its English meaning. */
type Vocabulary = {
  readonly functionWords: ReadonlyMap<string, string>;
  /**
   * Stems (words without their endings) of the language, each with its English meaning. A word of a query is recognized if it is a stem
   * plus one of `endings`.
   */
  readonly stems: ReadonlyMap<string, string>;
  /** The stems (words without endings) in a radix tree, to look up misspelled words. */
  readonly spellings: SearchableMap<string>;
  readonly idioms: Idioms;
  readonly endings: ReadonlySet<string>;
  /** Number of letters of the longest ending. */
  readonly endingMax: number;
  /** Function words of the language that come before a plural, as `los` in `los contactos`. */
  readonly plurals: ReadonlySet<string>;
  /** Letters that may join the parts of a compound word. Empty if the language has no compounds. */
  readonly joints: readonly string[];
  /** Words of a language that belong to a verb but follow it at the end of a clause (particles), such as `an` in the German `lege … an`. */
  readonly particles: ReadonlySet<string>;
  /** Pattern for `ge` or `zu` in a German verb, as in `angelegt` or `anzulegen`. Undefined for other languages. */
  readonly inserted: RegExp | undefined;
};

/**
 * A language other than English. The functions cache their results, because queries and phrases repeat words. `meaningOf`: the English
 * meaning of a word. `spelledMeaningOf`: the same for a misspelled word. `formsOf`: a word without its endings.
 */
type Language = Vocabulary & {
  readonly meaningOf: (word: string) => string | undefined;
  readonly spelledMeaningOf: (word: string) => string | undefined;
  readonly formsOf: (word: string) => readonly string[];
};

/** A query in English. Words that could not be translated are unchanged. */
export type TranslatedQuery = {
  readonly words: readonly string[];
  /** Words that could not be translated from the language of the query. Empty if the query is in English. */
  readonly unknown: ReadonlySet<string>;
  /** For an English word that translates one word of the query: that word, as the person wrote it. */
  readonly written: ReadonlyMap<string, string>;
  /** True if the query was in another language than English and was translated. False if it was in English. */
  readonly isTranslated: boolean;
};

const known: readonly Language[] = Object.values(languages).map((language) => {
  const particles = wordsOf(language.particles);
  const endings = wordsOf(language.endings);
  const vocabulary = {
    functionWords: invert(language.function),
    stems: invert(language.words),
    spellings: SearchableMap.from(invert(language.words)),
    idioms: collectIdioms(language.idioms, (idiom) =>
      idiom.split(" ").flatMap((part) => (part === "*" ? part : wordsOf(part))),
    ),
    endings: new Set(["", ...endings]),
    endingMax: Math.max(...endings.map(({ length }) => length)),
    plurals: new Set(wordsOf(language.plurals)),
    joints: language.joints === "" ? [] : ["", ...language.joints.split(" ")],
    particles: new Set(particles),
    inserted: particles.length === 0 ? undefined : new RegExp(`^(${particles.join("|")}|)(?:ge|zu)(?=\\p{L}{3})`, "u"),
  };
  return {
    ...vocabulary,
    meaningOf: cached((word) => wordMeaning(vocabulary, word)),
    spelledMeaningOf: cached((word) => spelledMeaning(vocabulary, word)),
    formsOf: cached((word) => formsOf(vocabulary, word)),
  };
});

/**
 * English words that can begin the next clause. The second part of a German verb, such as `an` in `lege … an`, can precede such a
 * word.
 */
const betweenClauses: ReadonlySet<string> = new Set("and for with without from in at by about that please".split(" "));

/**
 * Weight of a function word (such as an article) when the language of a query is detected, relative to a content word. Function words weigh
 * more because they are the more reliable sign.
 */
const functionShare = 2;
/**
 * Maximum number of words in a short query, after data such as ids and quoted text is removed. In such a query, the first word decides the
 * language (for example `schick`, German for `send`).
 */
const commandMax = 3;
const partMin = 3;
/** Maximum number of letters of a word that is looked up, because the lookup tries to split a compound word at each letter. */
const wordMax = 40;
/** Minimum number of letters of a word that is corrected. `spelledWordsMax`: maximum number of words of a query that are corrected. */
const spelledMin = 5;
const spelledWordsMax = 6;
/** Pattern for a French article or pronoun before a vowel, as in `l'équipe`. */
const elision = /(?<!\p{L})(l|d|j|n|s|m|t|c|qu)['’](?=\p{L})/giu;

/** Returns the plain words of a text that may be in a language other than English. `l'équipe` gives the two words `l` and `equipe`. */
export function foreignWordsOf(text: string): string[] {
  return wordsOf(text.replaceAll(elision, "$1 "));
}

/**
 * Returns the words of a query in English if they are German, Spanish or French. Unknown words stay unchanged. `isHeld`: returns true if an
 * example phrase contains the word in this form. Such a word is not treated as a misspelled one.
 */
export function translate(words: readonly string[], isHeld: (word: string) => boolean = () => false): TranslatedQuery {
  const language = languageOf(words, signsOf(words));
  return language === undefined
    ? { words, unknown: new Set(), written: new Map(), isTranslated: false }
    : translateFrom(language, words, (word) => (isHeld(word) ? undefined : language.spelledMeaningOf(word)));
}

/**
 * Returns a function that translates parts of an example phrase into English, in the same way as queries, so that a query in the same words
 * matches the phrase. It corrects no misspelled words. Undefined if the phrase is in English. `words`: all words of the phrase. `signs`:
 * the sum of `signsOf` of the words.
 */
export function translatorOf(
  words: readonly string[],
  signs: readonly number[],
): ((words: readonly string[]) => readonly string[]) | undefined {
  const language = languageOf(words, signs);
  return language && ((part) => translateFrom(language, part, () => undefined).words);
}

/** Returns the language of a text; undefined if it is English or unknown. `signs`: the sum of `signsOf` of its words. */
function languageOf(words: readonly string[], [english = 0, ...scores]: readonly number[]): Language | undefined {
  const best = Math.max(...scores);
  const [first = ""] = words;
  const commanding =
    words.length <= commandMax && !isEnglish(first)
      ? known.find((tried, at) => scores[at] === best && tried.meaningOf(first) !== undefined)
      : undefined;
  const language = commanding ?? known[scores.indexOf(best)];
  return commanding !== undefined || best > english ? language : undefined;
}

/** Returns how strongly the words indicate that a text is in English, and then the same number for each other supported language. */
export function signsOf(words: readonly string[]): readonly number[] {
  return sumOf(words.map(signsOfWord));
}

/** Returns the sums of lists of numbers, by position. */
export function sumOf(lists: readonly (readonly number[])[]): readonly number[] {
  const sums = [0, ...known.map(() => 0)];
  for (const list of lists) for (let at = 0; at < sums.length; at++) sums[at] = (sums[at] ?? 0) + (list[at] ?? 0);
  return sums;
}

function translateFrom(
  language: Language,
  foreign: readonly string[],
  correct: (word: string) => string | undefined,
): TranslatedQuery {
  const words = readIdioms(foreign, language.idioms, language.formsOf);
  const verbs = partedVerbs(language, words);
  const unknown = new Set<string>();
  const writtenOf = new Map<string, string>();
  let isPlural = false;
  let spelledWords = 0;
  const translated = words.flatMap(({ word, origin }, index) => {
    if (origin !== undefined) return [word];
    const parted = verbs.get(index);
    if (parted !== undefined) return parted.split(" ").filter((part) => part !== "");
    const between = language.functionWords.get(word);
    if (between !== undefined) isPlural = language.plurals.has(word);
    const exact = between ?? (isTime(word) ? stemMeaning(language, word) : language.meaningOf(word));
    const isTried = exact === undefined && !isTime(word) && !isEnglish(word) && spelledWords++ < spelledWordsMax;
    const meaning = isTried ? correct(word) : exact;
    if (meaning === undefined && isTime(word)) return [word];
    if (meaning === undefined) {
      const written = isEnglish(word) ? word : withoutUmlauts(language, word);
      unknown.add(written);
      return [written];
    }
    const meanings = meaning.split(" ");
    const said = isPlural && between === undefined ? meanings.map(pluralOf) : meanings;
    const [only = ""] = said;
    if (said.length === 1 && between === undefined && !writtenOf.has(only)) writtenOf.set(only, word);
    return said;
  });
  return { words: translated, unknown, written: writtenOf, isTranslated: true };
}

/** Returns a German word in one form for both ways to type an umlaut: `loeschung` and `löschung` both become `loschung`. */
function withoutUmlauts({ joints }: Vocabulary, word: string): string {
  return joints.length === 0 ? word : word.replaceAll(/(?<![aeq])([aou])e(?=\p{L})/gu, "$1");
}

function pluralOf(word: string): string {
  if (/(?:s|x|ch)$/.test(word)) return `${word}es`;
  return /[^aeo]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`;
}

/**
 * Returns the English meanings of verbs in two parts, such as the German `lege … an`, by position. The second part has an empty meaning.
 */
function partedVerbs(language: Language, words: readonly ReadWord[]): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const [end, { word: particle }] of words.entries()) {
    const next = words[end + 1]?.word;
    const isLast = next === undefined || betweenClauses.has(language.functionWords.get(next) ?? "");
    if (!language.particles.has(particle) || !isLast) continue;
    for (let at = 0; at < end; at++) {
      const { word = "", origin } = words[at] ?? {};
      const meaning = origin === undefined ? stemMeaning(language, particle + word) : undefined;
      if (meaning === undefined || found.has(at)) continue;
      found.set(at, meaning);
      found.set(end, "");
      break;
    }
  }
  return found;
}

/** Returns the English meaning of a word in any form, also of a compound word. Undefined if the language does not have the word. */
function wordMeaning(language: Vocabulary, word: string): string | undefined {
  const plain = word.replaceAll(/([aou])e/g, "$1");
  const bare = language.inserted === undefined ? word : word.replace(language.inserted, "$1");
  return (
    stemMeaning(language, word) ??
    stemMeaning(language, bare) ??
    compoundMeaning(language, word) ??
    stemMeaning(language, plain)
  );
}

/** Returns a word, and the word without each of its endings. */
function formsOf({ endings, endingMax }: Vocabulary, word: string): readonly string[] {
  const cuts = word.length > wordMax ? 1 : Math.min(word.length, endingMax + 1);
  const ends = Array.from({ length: cuts }, (_, cut) => word.length - cut);
  return ends.filter((end) => endings.has(word.slice(end))).map((end) => word.slice(0, end));
}

/**
 * Returns the English meaning of a foreign word, by removing one of the language's endings. If several stems are known, the longest is
 * used.
 */
function stemMeaning({ stems, endings, endingMax }: Vocabulary, word: string): string | undefined {
  if (word.length > wordMax) return undefined;
  const least = Math.max(partMin - 1, word.length - endingMax);
  for (let end = word.length; end >= least; end--) {
    const meaning = endings.has(word.slice(end)) ? stems.get(word.slice(0, end)) : undefined;
    if (meaning !== undefined) return meaning;
  }
  return undefined;
}

/**
 * Returns the English meaning of a foreign word with at most one wrong letter, which is not the first. Returns undefined if no known word
 * is so similar.
 */
function spelledMeaning(language: Vocabulary, word: string): string | undefined {
  for (const form of formsOf(language, word)) {
    if (form.length < spelledMin) continue;
    const [like] = [...language.spellings.fuzzyGet(form, 1).entries()].filter(
      ([stem]) => stem.length >= spelledMin && stem[0] === form[0],
    );
    if (like !== undefined) return like[1][0];
  }
  return undefined;
}

function compoundMeaning(language: Vocabulary, word: string): string | undefined {
  for (let end = word.length - partMin; end >= partMin && language.joints.length > 0; end--) {
    const tail = stemMeaning(language, word.slice(end));
    if (tail === undefined) continue;
    const joint = language.joints.find(
      (letters) => word.slice(0, end).endsWith(letters) && stemMeaning(language, word.slice(0, end - letters.length)),
    );
    const head = joint === undefined ? undefined : stemMeaning(language, word.slice(0, end - joint.length));
    if (head !== undefined) return `${head} ${tail}`;
  }
  return undefined;
}

const signsOfWord = cached((word): readonly number[] => [
  englishLikeness(word),
  ...known.map((language) => likenessTo(language, word)),
]);

function likenessTo(language: Language, word: string): number {
  // A function word (such as an article) is a strong sign for a language and has the weight 2. A function word that is also an English
  // content word, such as the French `comment` ("how"), has only the weight 1.
  if (language.functionWords.has(word)) return englishWords.telling.has(termOf(word)) ? 1 : functionShare;
  return language.meaningOf(word) === undefined ? 0 : 1;
}

function englishLikeness(word: string): number {
  if (englishWords.functional.has(word)) return functionShare;
  return englishWords.telling.has(termOf(word)) ? 1 : 0;
}

function invert(words: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [meaning, foreign] of Object.entries(words)) {
    for (const word of wordsOf(foreign)) if (!found.has(word)) found.set(word, meaning);
  }
  return found;
}
