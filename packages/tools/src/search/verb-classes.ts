import type { ToolDefinition } from "@svc/catalog";
import vocabulary from "./vocabulary.json" with { type: "json" };

/** Verb classes of a tool or query as bits, because a verb may have several: `archive` changes and removes. */
export type VerbClasses = number;

const bits = { read: 1, add: 2, change: 4, remove: 8 };
const none: VerbClasses = 0;
const combinations = 16;

/** Share of its score that a tool keeps if the tool reads and the query requests a change, or the other way round. */
const readsElseShare = 0.65;
/**
 * Share of its score that a tool keeps if it makes a different kind of change than the query requests (for example an update and not a
 * creation).
 */
const changesElseShare = 0.75;
/** Share of its score that a tool keeps if it removes something and the query asks for something else. */
const removesElseShare = 0.6;

const asking: ReadonlySet<string> = new Set(vocabulary.asking);
const determiners: ReadonlySet<string> = new Set(vocabulary.determiners);
const verbClassesOfWord: ReadonlyMap<string, VerbClasses> = collectVerbClasses();

/**
 * Returns the verb classes that a query requests. With a question word (`which calendars do I have`) it requests reading. Otherwise its
 * first verb decides. A verb after an article counts as a noun, such as `search` in `back up the search server`.
 */
export function demandOf(words: readonly string[]): VerbClasses {
  const [opening = ""] = words;
  if (asking.has(opening)) return bits.read;
  const verb = words.find((word, index) => verbClassesOfWord.has(word) && !determiners.has(words[index - 1] ?? ""));
  return verb === undefined ? none : (verbClassesOfWord.get(verb) ?? none);
}

/**
 * Returns the verb classes of a tool, which say what it does (for example `read` or `remove`). A tool with the access class `read` has the
 * verb class `read`.
 * For other tools, the first word of the name decides. If it is not a known verb, a destructive tool gets `remove`, and any other tool gets
 * none.
 */
export function verbClassesOf(tool: Pick<ToolDefinition, "class" | "name">): VerbClasses {
  if (tool.class === "read") return bits.read;
  const [verb = ""] = tool.name.split("_");
  const verbClasses = (verbClassesOfWord.get(verb) ?? none) & ~bits.read;
  return verbClasses === none && tool.class === "destructive" ? bits.remove : verbClasses;
}

/**
 * Returns a list of factors by which the scores of tools are multiplied in a search. A verb class is a kind of action, such as creating or
 * deleting. `demand`: the verb classes that the query asks for. The list has a factor for each combination of verb classes that a tool can
 * have, and the combination is the index.
 */
export function fitsOf(demand: VerbClasses): readonly number[] {
  return Array.from({ length: combinations }, (_, verbClasses) => fitOf(verbClasses, demand));
}

function fitOf(verbClasses: VerbClasses, demand: VerbClasses): number {
  if (demand === none || (verbClasses & demand) !== none) return 1;
  if ((verbClasses & bits.read) !== none || demand === bits.read) return readsElseShare;
  if (verbClasses === bits.remove) return removesElseShare;
  return verbClasses === none ? 1 : changesElseShare;
}

function collectVerbClasses(): Map<string, VerbClasses> {
  const found = new Map<string, VerbClasses>();
  for (const [verbClass, words] of Object.entries(vocabulary.verbClasses)) {
    for (const word of words) found.set(word, (found.get(word) ?? none) | bits[verbClass as keyof typeof bits]);
  }
  return found;
}
