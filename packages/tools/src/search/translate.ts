import { isTime } from "./data-words.ts";
import languages from "./languages.json" with { type: "json" };
import { englishWords, plainWords } from "./vocabulary-words.ts";
import { termOf } from "./words.ts";

/** What is known of a language, in plain words: each with what it is in English. */
type Language = {
  readonly functionWords: ReadonlyMap<string, string>;
  /** Stems, which the endings follow. */
  readonly stems: ReadonlyMap<string, string>;
  readonly endings: ReadonlySet<string>;
  /** Letters between the parts of a compound; none where the language has no compounds. */
  readonly joints: readonly string[];
  /** What stands at the end of a sentence and belongs before its verb, as in `lege … an`. */
  readonly particles: ReadonlySet<string>;
};

const known: readonly Language[] = Object.values(languages).map((language) => ({
  functionWords: invert(language.function),
  stems: invert(language.words),
  endings: new Set(language.endings.flatMap((ending) => (ending === "" ? [""] : plainWords(ending)))),
  joints: language.joints,
  particles: new Set(language.particles),
}));

/** Of a word that only stands between others, against one that says what is wanted: it tells the language more surely. */
const functionShare = 2;
const partMin = 3;

/** Returns the words of a query in English where they are German, Spanish or French; what is not known stays as it is. */
export function translate(words: readonly string[]): readonly string[] {
  const plain = words.map((word) => plainWords(word)[0] ?? word);
  const scores = known.map((language) => likenessTo(language, plain));
  const best = Math.max(...scores);
  const language = known[scores.indexOf(best)];
  return language === undefined || best <= likenessToEnglish(words) ? words : translateFrom(language, plain);
}

function translateFrom(language: Language, words: readonly string[]): readonly string[] {
  const last = words.at(-1) ?? "";
  const verbs = language.particles.has(last) ? words.map((word) => stemMeaning(language, last + word)) : [];
  const isParted = verbs.some((verb) => verb !== undefined);
  return words.flatMap((word, index) => {
    if (isParted && index === words.length - 1) return [];
    const between = verbs[index] ?? language.functionWords.get(word);
    const meaning = between ?? (isTime(word) ? stemMeaning(language, word) : wordMeaning(language, word));
    return meaning === undefined ? [word] : meaning.split(" ");
  });
}

function wordMeaning(language: Language, word: string): string | undefined {
  const plain = word.replaceAll(/([aou])e/g, "$1");
  return stemMeaning(language, word) ?? compoundMeaning(language, word) ?? stemMeaning(language, plain);
}

/** What a word means without one of its endings: the longest stem that is known. */
function stemMeaning({ stems, endings }: Language, word: string): string | undefined {
  for (let end = word.length; end >= partMin - 1; end--) {
    const meaning = endings.has(word.slice(end)) ? stems.get(word.slice(0, end)) : undefined;
    if (meaning !== undefined) return meaning;
  }
  return undefined;
}

function compoundMeaning(language: Language, word: string): string | undefined {
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

function likenessTo(language: Language, words: readonly string[]): number {
  return words.reduce((sum, word) => {
    // French for how, and what people write on a ticket.
    const isTellingInEnglish = englishWords.telling.has(termOf(word));
    if (language.functionWords.has(word)) return sum + (isTellingInEnglish ? 1 : functionShare);
    return wordMeaning(language, word) === undefined ? sum : sum + 1;
  }, 0);
}

function likenessToEnglish(words: readonly string[]): number {
  return words.reduce((sum, word) => {
    if (englishWords.functional.has(word)) return sum + functionShare;
    return englishWords.telling.has(termOf(word)) ? sum + 1 : sum;
  }, 0);
}

function invert(words: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [meaning, foreign] of Object.entries(words)) {
    for (const word of foreign.flatMap((text) => plainWords(text))) if (!found.has(word)) found.set(word, meaning);
  }
  return found;
}
