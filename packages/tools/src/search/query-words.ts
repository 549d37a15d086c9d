import { isTime, partText } from "./data-words.ts";
import { collectIdioms, readIdioms } from "./idioms.ts";
import { readMarks, readSpoken, saidWord } from "./marks.ts";
import { correctWord, isEnglish } from "./spelling.ts";
import { formMark } from "./tool-terms.ts";
import { foreignWordsOf, translate } from "./translate.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { isTelling, readPhrases, readWords, termOf, wordsOf } from "./words.ts";

/** A search query after parsing. */
export type SearchQuery = {
  /** All words of the query in order. Each idiom, such as `put on ice`, is replaced by words with the same meaning. */
  readonly words: readonly string[];
  /** Words that describe the request, each only once, in order. */
  readonly telling: readonly QueryWord[];
  /** True if the query was translated from another language. Tools have English names, so such a query cannot be a tool's name. */
  readonly isTranslated: boolean;
};

/** A word of a query, or a phrase with one meaning, in the form that the search index has. */
export type QueryWord = {
  readonly term: string;
  /** The full word, from which `term` was made. A phrase of the query is first replaced by words with its meaning. */
  readonly form: string;
  /** Terms with about the same meaning as this word, in the form that the search index has. */
  readonly synonyms: readonly string[];
  /** The word before its translation, as a term. Undefined if the word was not translated, or if no tool contains it. */
  readonly written: string | undefined;
  /** Weight of the word: 1, or less for words that only say where or for whom. */
  readonly share: number;
  /** True if the word is probably a name. A name is not treated as a misspelled word. */
  readonly isName: boolean;
  /** True if the person wrote another word, and this is the probable correction. */
  readonly isCorrected: boolean;
  /**
   * True if the word seems to be of a language other than English and could not be translated. False if it was translated or is English.
   */
  readonly isForeign: boolean;
  /** True if the word is data for a tool (for example an id, a time or quoted text). Definitions are not expected to contain it. */
  readonly isData: boolean;
  /** True if the word is data or can describe anything, such as `old` or `best`. Such a word alone is not a sign that a tool fits. */
  readonly isVague: boolean;
};

/**
 * Weight of a word that follows the object and a preposition, such as `calendar` in `delete an event from my calendar`. That request is
 * about events.
 */
const contextShare = 0.8;

/**
 * Weight of a filler word, such as `specific` in `provide specific information`. `qualifierShare`: weight of a word that can describe
 * anything.
 */
const fillerShare = 0.35;
const qualifierShare = 0.5;
/** Weight of a word that is only data for the tool, such as an id or a word in quotes. */
const dataShare = 0.3;
/** Weight of a word that names a time, such as `tomorrow`. */
const timeShare = 0.5;

const synonyms = collectSynonyms(vocabulary.synonyms);
/** Phrases with a meaning of their own. Each word is reduced to its stem, as in the search index, so that all forms of the word match. */
const idioms = collectIdioms(vocabulary.idioms, (idiom) =>
  idiom.split(" ").map((part) => (part === "*" ? part : termOf(part))),
);
const verbs: ReadonlySet<string> = new Set(Object.values(vocabulary.verbClasses).flat());
const prepositions: ReadonlySet<string> = new Set(vocabulary.prepositions);
/** Pattern for phrases with which people begin a request. */
const opening = new RegExp(
  `^\\W*(?:(?:${vocabulary.openings.toSorted(longestFirst).join("|")})\\b\\W*)+(?:(?:today|weekend|day|holiday|everyone|everybody|all|(?:my|old) friend)\\b)?`,
  "i",
);
/** Pattern for a time in a query, such as `10:30` or `3 pm`. */
const clock = String.raw`\d{1,2}[:.]\d\d|\d{1,2}\s?(?:am|pm|h|uhr|oclock)\b|(?:${vocabulary.times.join("|")})\b`;
const retiming = new RegExp(
  String.raw`\b(?:move|push|shift|bump|bring|pull|slide|nudge|shove)(?=\s[^;!?\n]{0,80}?\s(?:(?:to|till|until)\s(?:next\s|this\s|the\s)?(?:${clock})|from\s\d{1,2}\s(?:to|till|until)\s\d|by\s(?:an?|one|two|half|\d+)\s(?:an?\s)?(?:${clock})))`,
  "giu",
);
/** Pattern for a comparison sign before a value, as in `size > 20`. */
const comparing = /(?<=\p{L}{3})\s(?:[=<>]|[=<>!]=)\s(?=["'\p{L}\p{N}])/gu;
const fillers: ReadonlySet<string> = new Set(vocabulary.fillers);
const qualifiers: ReadonlySet<string> = new Set(vocabulary.qualifiers);

/**
 * Returns a parsed query. Mail addresses, web addresses and program code are left out, because they do not describe the request. `isHeld`:
 * returns true if a tool contains the term. A word for which it returns false may be misspelled.
 */
export function readQuery(text: string, isHeld: (term: string) => boolean): SearchQuery {
  const { text: unmarked, ...marks } = readMarks(text);
  const plain = requestPartOf(unmarked).replaceAll(retiming, "reschedule").replaceAll(comparing, " filter ");
  const { request, data, hasText } = partText(plain, marks.hasChannel || marks.hasPerson);
  const names = namesIn(request);
  const isKnown = (word: string) => names.has(word) || isEnglish(word) || isHeld(termOf(word));
  const translated = translate(foreignWordsOf(request), (word) => isHeld(termOf(word)));
  const { words: written, unknown, isTranslated } = translated;
  const corrected = written.map((word) => (isKnown(word) || unknown.has(word) ? word : (correctWord(word) ?? word)));
  const meant = readIdioms(corrected, idioms, (word) => [termOf(word)]);
  const isNamed = (word: string) => isHeld(formMark + word) || isHeld(formMark + termOf(word));
  const spoken = readSpoken(
    meant.map((read) => saidWord(read, marks)),
    { ...marks, hasText },
    isNamed,
  );
  const origins = new Map(meant.flatMap(({ word, origin }) => (origin === undefined ? [] : [[word, termOf(origin)]])));
  const words = spoken ?? readPhrases(meant.map(({ word }) => word));
  const said = new Set(
    spoken === undefined ? meant.flatMap(({ word, origin }) => (origin === undefined ? [word] : [])) : [],
  );
  const corrections = new Set(corrected.filter((word, index) => word !== written[index]));
  const found = new Map<string, QueryWord>();
  const add = (word: string, share: number, isData: boolean) => {
    const term = termOf(word);
    if (found.has(term)) return;
    const isVague = isData || (qualifiers.has(word) && said.has(word));
    const origin = origins.get(word);
    const others = isData ? [] : [...(synonyms.get(term) ?? []), ...(origin === undefined ? [] : [origin])];
    const [isName, isCorrected, isForeign] = [names.has(word), corrections.has(word), unknown.has(word)];
    const foreign = termOf(translated.written.get(word) ?? "");
    const own = { term, form: word, synonyms: others, written: isHeld(foreign) ? foreign : undefined };
    found.set(term, { ...own, share, isName, isCorrected, isForeign, isData, isVague });
  };
  let hasObject = false;
  let isContext = false;
  for (const word of words) {
    if (!isTelling(word)) {
      isContext ||= hasObject && prepositions.has(word);
      continue;
    }
    const isVerb = verbs.has(word);
    const isData = isTime(word) || (isVerb && names.has(word));
    hasObject ||= !isVerb && !isData;
    add(word, isData ? timeShare : (isContext ? contextShare : 1) * (said.has(word) ? shareOf(word) : 1), isData);
  }
  if (marks.hasChannel) add("channel", contextShare, false);
  // If the query sends a message, the words of the message's text are left out, because they do not describe the request.
  for (const word of spoken === undefined ? readWords(data) : []) if (isTelling(word)) add(word, dataShare, true);
  return { words, telling: [...found.values()], isTranslated };
}

/**
 * Returns the part of a query that describes the request. Removes program code, a polite opening such as "could you please", email
 * addresses and URLs.
 */
export function requestPartOf(text: string): string {
  return isProgram(text) ? "" : text.replace(opening, " ").replaceAll(/(?<!\S)\S*(?:@|:\/\/)\S*/g, " ");
}

function shareOf(word: string): number {
  if (fillers.has(word)) return fillerShare;
  return qualifiers.has(word) ? qualifierShare : 1;
}

/**
 * True if the text looks like program code. It then has at least three signs such as `{`, `;` or `=`, and at least one of them for every
 * two words. False for a sentence, even if it contains a list or an object.
 */
function isProgram(text: string): boolean {
  const signs = text.match(/[{}()[\];=<>&|\\]/g)?.length ?? 0;
  if (/^\s*(?:select\s.*\sfrom\s|import\s+\w+\s+as\s|#include\b)/is.test(text)) return true;
  return signs >= 3 && 2 * signs >= (text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0);
}

/** Returns the words of a query that are probably names, in lower case. They begin with a capital letter inside a sentence. */
function namesIn(text: string): ReadonlySet<string> {
  // The first word counts only if `'s` or another such word follows it, and if it is not a verb.
  const found = text.matchAll(
    /(?<=[\p{L}\p{N},;:"'(]\s*)(?<=[\s"'(])\p{Lu}\p{Ll}+(?:['’]s)?|^\p{Lu}\p{Ll}+(?:['’]s(?=\s)|(?=\s\p{Lu}\p{Ll}))/gu,
  );
  return new Set(
    Array.from(found).flatMap(({ 0: name, index }) =>
      index === 0 && verbs.has(name.toLowerCase()) ? [] : wordsOf(name),
    ),
  );
}

function longestFirst(a: string, b: string): number {
  return b.length - a.length;
}

function collectSynonyms(groups: readonly (readonly string[])[]): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const group of groups) {
    const terms = group.map(termOf);
    for (const term of terms) {
      const others = found.get(term) ?? new Set<string>();
      for (const other of terms) if (other !== term) others.add(other);
      found.set(term, others);
    }
  }
  return found;
}
