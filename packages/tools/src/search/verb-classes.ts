import type { ToolDefinition } from "@svc/catalog";
import vocabulary from "./vocabulary.json" with { type: "json" };

/** What can be done to a thing, told by verbs alone: bits, since a verb may stand for several (`archive` changes and takes away). */
export type VerbClasses = number;

const bits = { read: 1, add: 2, change: 4, remove: 8 };
const none: VerbClasses = 0;
const combinations = 16;

/** What is left of the score of a tool that reads where a change is wanted, or the other way round. */
const readsElseShare = 0.65;
/** What is left of the score of a tool that makes another change than the one that is wanted. */
const changesElseShare = 0.75;
/** What is left of the score of a tool that takes something away where that is not wanted: one to be asked for. */
const removesElseShare = 0.6;

const asking: ReadonlySet<string> = new Set(vocabulary.asking);
const determiners: ReadonlySet<string> = new Set(vocabulary.determiners);
const verbClassesOfWord: ReadonlyMap<string, VerbClasses> = collectVerbClasses();

/**
 * What a query is after. Opened by a word that asks (`which calendars do I have`), it reads; else its first verb says: one after an
 * article is a noun, as in `back up the search server`.
 */
export function demandOf(words: readonly string[]): VerbClasses {
  const [opening = ""] = words;
  if (asking.has(opening)) return bits.read;
  const verb = words.find((word, index) => verbClassesOfWord.has(word) && !determiners.has(words[index - 1] ?? ""));
  return verb === undefined ? none : (verbClassesOfWord.get(verb) ?? none);
}

/** What a tool does: reads, by its class; else what the first word of its name says, nothing when that says nothing of it. */
export function verbClassesOf(tool: Pick<ToolDefinition, "class" | "name">): VerbClasses {
  if (tool.class === "read") return bits.read;
  const [verb = ""] = tool.name.split("_");
  const verbClasses = (verbClassesOfWord.get(verb) ?? none) & ~bits.read;
  return verbClasses === none && tool.class === "destructive" ? bits.remove : verbClasses;
}

/** The share of its score that a tool keeps when something is wanted, by what the tool does. */
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
