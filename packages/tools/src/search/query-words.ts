import { isTime, partText } from "./data-words.ts";
import { collectIdioms, readIdioms } from "./idioms.ts";
import { readMarks, readSpoken, saidWord } from "./marks.ts";
import { correctWord, isEnglish } from "./spelling.ts";
import { formMark } from "./tool-terms.ts";
import { translate } from "./translate.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { isTelling, readPhrases, readWords, termOf, wordsOf } from "./words.ts";

/** A query as it is read. */
export type SearchQuery = {
  /** All its words in order, with the meaning of a phrase in its place. */
  readonly words: readonly string[];
  /** The words that say what is wanted, each once, in order. */
  readonly telling: readonly QueryWord[];
  /** True if it was written in another language, which no tool is named in. */
  readonly isTranslated: boolean;
};

/** A word of a query, or a phrase that stands for one, as it is indexed. */
export type QueryWord = {
  readonly term: string;
  /** As it is written, or as the phrase means it. */
  readonly form: string;
  /** Terms that mean about the same. */
  readonly synonyms: readonly string[];
  /** How much it counts: 1, or less for what only says where or for whom. */
  readonly share: number;
  /** Whether it is likely a name, which no word is a spelling of. */
  readonly isName: boolean;
  /** True if it was written otherwise, and is what may have been meant. */
  readonly isCorrected: boolean;
  /** True if it is of another language, and not known. */
  readonly isForeign: boolean;
  /** True if it is what a tool is called with, such as an id, a time or quoted text: no definition is expected to hold it. */
  readonly isData: boolean;
  /** True if it qualifies things of all kinds (`old`, `best`), or is data: that a tool holds it shows no fit. */
  readonly isVague: boolean;
};

/** What a word counts behind the preposition that follows the object: `delete an event from my calendar` is about events. */
const contextShare = 0.8;

/** What a word counts that people fill sentences with (`provide specific information`), and one that qualifies things of all kinds. */
const fillerShare = 0.35;
const qualifierShare = 0.5;
/** What a word of data counts, and one that says when. */
const dataShare = 0.3;
const timeShare = 0.5;

const synonyms = collectSynonyms(vocabulary.synonyms);
/** The words of an idiom are read in any form of them. */
const idioms = collectIdioms(vocabulary.idioms, (idiom) =>
  idiom.split(" ").map((part) => (part === "*" ? part : termOf(part))),
);
const verbs: ReadonlySet<string> = new Set(Object.values(vocabulary.verbClasses).flat());
const prepositions: ReadonlySet<string> = new Set(vocabulary.prepositions);
/** What people open with before they say what they want. */
const opening = new RegExp(
  `^\\W*(?:(?:${vocabulary.openings.toSorted(longestFirst).join("|")})\\b\\W*)+(?:(?:today|weekend|day|holiday|everyone|everybody|all|(?:my|old) friend)\\b)?`,
  "i",
);
/** A verb of moving before a time: what is moved stays where it is. */
const clock = String.raw`\d{1,2}[:.]\d\d|\d{1,2}\s?(?:am|pm|h|uhr|oclock)\b|(?:${vocabulary.times.join("|")})\b`;
const retiming = new RegExp(
  String.raw`\b(?:move|push|shift|bump|bring|pull|slide|nudge|shove)(?=\s[^;!?\n]{0,80}?\s(?:(?:to|till|until)\s(?:next\s|this\s|the\s)?(?:${clock})|from\s\d{1,2}\s(?:to|till|until)\s\d|by\s(?:an?|one|two|half|\d+)\s(?:an?\s)?(?:${clock})))`,
  "giu",
);
/** A sign that compares a value, as in `size > 20`. */
const comparing = /(?<=\p{L}{3})\s(?:[=<>]|[=<>!]=)\s(?=["'\p{L}\p{N}])/gu;
/** A French article or pronoun before a vowel, as in `l'équipe`. */
const elision = /(?<!\p{L})(l|d|j|n|s|m|t|c|qu)['’](?=\p{L})/giu;
const fillers: ReadonlySet<string> = new Set(vocabulary.fillers);
const qualifiers: ReadonlySet<string> = new Set(vocabulary.qualifiers);

/**
 * Reads a query. Addresses of mail and of pages are left out: they are what a tool is called with. A piece of a program says nothing
 * of what is wanted. A word that no tool holds by `isHeld` may be a misspelled one.
 */
export function readQuery(text: string, isHeld: (term: string) => boolean): SearchQuery {
  const { text: unmarked, ...marks } = readMarks(text);
  const plain = requestPartOf(unmarked).replaceAll(retiming, "reschedule").replaceAll(comparing, " filter ");
  const { request, data, hasText } = partText(plain, marks.hasChannel || marks.hasPerson);
  const names = namesIn(request);
  const isKnown = (word: string) => names.has(word) || isEnglish(word) || isHeld(termOf(word));
  const { words: written, unknown, isTranslated } = translate(wordsOf(request.replaceAll(elision, "$1 ")));
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
    found.set(term, { term, form: word, synonyms: others, share, isName, isCorrected, isForeign, isData, isVague });
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
  // The text of a message says nothing of what is wanted.
  for (const word of spoken === undefined ? readWords(data) : []) if (isTelling(word)) add(word, dataShare, true);
  return { words, telling: [...found.values()], isTranslated };
}

/** What of a query tells what is wanted: nothing of a program, and of a sentence neither its opening nor addresses of mail and of pages. */
export function requestPartOf(text: string): string {
  return isProgram(text) ? "" : text.replace(opening, " ").replaceAll(/\S*(?:@|:\/\/)\S*/g, " ");
}

function shareOf(word: string): number {
  if (fillers.has(word)) return fillerShare;
  return qualifiers.has(word) ? qualifierShare : 1;
}

/** Whether it has a sign of programs for each two words, and three at least: more than a sentence that holds a list or an object has. */
function isProgram(text: string): boolean {
  const signs = text.match(/[{}()[\];=<>&|\\]/g)?.length ?? 0;
  if (/^\s*(?:select\s.*\sfrom\s|import\s+\w+\s+as\s|#include\b)/is.test(text)) return true;
  return signs >= 3 && 2 * signs >= (text.match(/[\p{L}\p{N}]+/gu)?.length ?? 0);
}

/** Words with a capital inside of a sentence, and before another or an `'s` at its beginning unless they say what to do there, in lower case. */
function namesIn(text: string): ReadonlySet<string> {
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
