import type { ReadWord } from "./idioms.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { isTelling } from "./words.ts";

/** Kinds of marked names in a query. `#general` is a channel, `@petra` is a person, `WEB-204` is the key of a record. */
export type Marks = { readonly hasChannel: boolean; readonly hasPerson: boolean; readonly hasKey: boolean };

/** A query with its marked names removed, and the kinds of these names. */
export type MarkedText = Marks & { readonly text: string };

const channel = /(?<![\p{L}\p{N}&#/])(?<!\b(?:label|tag|hashtag|issue|ticket)s?\s+)#\p{L}[\p{L}\p{N}_-]*/giu;
const person = /(?<!\S)@\p{L}[\p{L}\p{N}._-]*/gu;
const key = /(?<![\p{L}\p{N}])\p{Lu}{2,}[-_]\p{N}+(?![\p{L}\p{N}])|#\p{N}+/u;

/** Verbs of saying, verbs of writing, and verbs that put something somewhere. */
const telling: ReadonlySet<string> = new Set(vocabulary.telling);
const writing: ReadonlySet<string> = new Set(vocabulary.writing);
const placing: ReadonlySet<string> = new Set(vocabulary.placing);
/** Words for places where messages are sent, such as chat and channel. */
const places: ReadonlySet<string> = new Set(vocabulary.places);
const towards: ReadonlySet<string> = new Set(["in", "to", "on", "into", "at"]);
/** Verbs that occur in sentences and not in names. */
const finite: ReadonlySet<string> = new Set(["is", "are", "was", "were", "will"]);
const asking: ReadonlySet<string> = new Set(vocabulary.asking);
const verbs: ReadonlySet<string> = new Set(Object.values(vocabulary.verbClasses).flat());

/**
 * Returns the word as written if the idiom's meaning does not apply. For example, `drop … into #launch` sends a message and does not add
 * anything.
 */
export function saidWord({ word, origin }: ReadWord, { hasChannel, hasPerson }: Marks): string {
  return origin !== undefined && (hasChannel || hasPerson) && writing.has(origin) ? origin : word;
}

/** Returns a query with its marked names removed. */
export function readMarks(text: string): MarkedText {
  const withoutChannels = text.replaceAll(channel, " ");
  const unmarked = withoutChannels.replaceAll(person, " ");
  const hasChannel = withoutChannels !== text;
  return { text: unmarked, hasChannel, hasPerson: unmarked !== withoutChannels, hasKey: key.test(text) };
}

/**
 * Returns the words of the meant action if a query says or writes quoted text, or sends text to a marked name; otherwise undefined.
 * `isNamed`: true for a word that occurs in tools' names. Such a word is the object, as in `post a photo in #general`.
 */
export function readSpoken(
  words: readonly string[],
  { hasChannel, hasPerson, hasKey, hasText }: Marks & { readonly hasText: boolean },
  isNamed: (word: string) => boolean,
): readonly string[] | undefined {
  const at = words.findIndex((word) => telling.has(word) || writing.has(word) || verbs.has(word));
  const [verb = "", next] = words.slice(at);
  const after = words.slice(at + 1);
  const rest = after.filter((word) => isTelling(word) && !telling.has(word));
  const isReport = telling.has(verb) && after.includes("that") && after.some((word) => places.has(word));
  const isAddressed = hasChannel || hasPerson || isReport;
  const isWritten = telling.has(verb) || writing.has(verb);
  const opens = !words.slice(0, at).some(isTelling);
  const isSaid = isWritten
    ? isAddressed || (opens && (hasText ? !hasOwnObject(after) : isBare(after)))
    : isAddressed && hasText && placing.has(verb);
  if (!isSaid || next === "me" || asking.has(words[0] ?? "")) return undefined;
  const hasObject = rest.some((word) => !places.has(word) && isNamed(word));
  if (hasObject && !(telling.has(verb) && isAddressed)) return undefined;
  if (hasKey && !isAddressed) return ["add", "comment"];
  return ["send", "message", ...(hasChannel ? ["channel"] : []), ...rest.filter((word) => places.has(word))];
}

/** True if the verb has an object before its destination. */
function hasOwnObject(after: readonly string[]): boolean {
  const end = after.findIndex((word) => towards.has(word));
  return after.slice(0, end < 0 ? undefined : end).some((word) => isTelling(word) && !telling.has(word));
}

/**
 * True if the verb has no object or only a sentence before its destination, and the destination is one word without an article: `hello to
 * general`.
 */
function isBare(after: readonly string[]): boolean {
  const [name = "", preposition = "", ...before] = after.toReversed();
  return (
    towards.has(preposition) && isTelling(name) && (!before.some(isTelling) || before.some((word) => finite.has(word)))
  );
}
