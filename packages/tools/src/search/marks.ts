import type { ReadWord } from "./idioms.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { isTelling } from "./words.ts";

/**
 * Kinds of marked names that a search query contains. `hasChannel`: a channel such as `#general`. `hasPerson`: a person such as `@petra`.
 * `hasKey`: the key of a record such as `WEB-204`.
 */
export type Marks = { readonly hasChannel: boolean; readonly hasPerson: boolean; readonly hasKey: boolean };

/**
 * A search query from which names with a sign were removed (a channel such as `#sales`, a person such as `@ana`, a record key such as
 * `WEB-204`). The other fields say which kinds of names were removed.
 */
export type MarkedText = Marks & { readonly text: string };

const channel = /(?<![\p{L}\p{N}&#/])(?<!\b(?:label|tag|hashtag|issue|ticket)s?\s+)#\p{L}[\p{L}\p{N}_-]*/giu;
const person = /(?<!\S)@\p{L}[\p{L}\p{N}._-]*/gu;
const key = /(?<![\p{L}\p{N}])\p{Lu}{2,}[-_]\p{N}+(?![\p{L}\p{N}])|#\p{N}+/u;

/**
 * Verbs by which the search finds out that a query asks for a message to be sent, in all supported languages. `telling`: verbs of saying.
 * `writing`: verbs of writing. `placing`: verbs that put something somewhere.
 */
const telling: ReadonlySet<string> = new Set(vocabulary.telling);
const writing: ReadonlySet<string> = new Set(vocabulary.writing);
const placing: ReadonlySet<string> = new Set(vocabulary.placing);
/** Words for places where messages are sent, such as chat and channel. */
const places: ReadonlySet<string> = new Set(vocabulary.places);
const towards: ReadonlySet<string> = new Set(["in", "to", "on", "into", "at"]);
/** Verbs that show that a text is a sentence and not a name. */
const finite: ReadonlySet<string> = new Set(["is", "are", "was", "were", "will"]);
const asking: ReadonlySet<string> = new Set(vocabulary.asking);
const verbs: ReadonlySet<string> = new Set(Object.values(vocabulary.verbClasses).flat());

/**
 * Returns the meaning of a word in the query. If the query names a channel or a person, a verb such as `drop` means to send a message, not
 * to delete. The verb itself is then returned instead of its usual meaning.
 */
export function saidWord({ word, origin }: ReadWord, { hasChannel, hasPerson }: Marks): string {
  return origin !== undefined && (hasChannel || hasPerson) && writing.has(origin) ? origin : word;
}

/** Returns a query without marked names such as `#sales` or `@ana`, and which kinds of marks the query has. */
export function readMarks(text: string): MarkedText {
  const withoutChannels = text.replaceAll(channel, " ");
  const unmarked = withoutChannels.replaceAll(person, " ");
  const hasChannel = withoutChannels !== text;
  return { text: unmarked, hasChannel, hasPerson: unmarked !== withoutChannels, hasKey: key.test(text) };
}

/**
 * If the user wants to send a message, returns search words for this, such as `send` and `message`. Returns undefined for all other
 * queries. `isNamed`: returns true for a word that occurs in names of tools.
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

/**
 * Returns true if a search query has an object between its verb and the destination, as in "add a row to the table". Returns false if the
 * destination (`to …`, `in …`) follows the verb directly.
 */
function hasOwnObject(after: readonly string[]): boolean {
  const end = after.findIndex((word) => towards.has(word));
  return after.slice(0, end < 0 ? undefined : end).some((word) => isTelling(word) && !telling.has(word));
}

/** True if the words after a verb are only a message and its destination, as in `hello to general`. */
function isBare(after: readonly string[]): boolean {
  // The last word is the destination. The words before the preposition are the message.
  // They must not name an object of an app, unless they form a sentence with a verb such as `is`.
  const [name = "", preposition = "", ...before] = after.toReversed();
  return (
    towards.has(preposition) && isTelling(name) && (!before.some(isTelling) || before.some((word) => finite.has(word)))
  );
}
