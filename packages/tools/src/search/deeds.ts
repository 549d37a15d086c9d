import type { ToolDefinition } from "@svc/catalog";
import vocabulary from "./vocabulary.json" with { type: "json" };

/** What can be done to a thing, told by verbs alone: bits, since a verb may stand for several (`archive` changes and takes away). */
export type Deeds = number;

const bits = { read: 1, add: 2, change: 4, remove: 8 };
const none: Deeds = 0;
const combinations = 16;

/** What is left of the score of a tool that reads where a change is wanted, or the other way round. */
const readsElseShare = 0.65;
/** What is left of the score of a tool that makes another change than the one that is wanted. */
const changesElseShare = 0.75;
/** What is left of the score of a tool that takes something away where that is not wanted: one to be asked for. */
const removesElseShare = 0.6;

const asking: ReadonlySet<string> = new Set(vocabulary.asking);
const determiners: ReadonlySet<string> = new Set(vocabulary.determiners);
const deedsOfWord: ReadonlyMap<string, Deeds> = collectDeeds();

/**
 * What a query is after. Opened by a word that asks (`which calendars do I have`), it reads; else its first verb says: one after an
 * article is a noun, as in `back up the search server`.
 */
export function demandOf(words: readonly string[]): Deeds {
  const [opening = ""] = words;
  if (asking.has(opening)) return bits.read;
  const verb = words.find((word, index) => deedsOfWord.has(word) && !determiners.has(words[index - 1] ?? ""));
  return verb === undefined ? none : (deedsOfWord.get(verb) ?? none);
}

/** What a tool does: reads, by its class; else what the first word of its name says, nothing when that says nothing of it. */
export function deedsOf(tool: Pick<ToolDefinition, "class" | "name">): Deeds {
  if (tool.class === "read") return bits.read;
  const [verb = ""] = tool.name.split("_");
  const deeds = (deedsOfWord.get(verb) ?? none) & ~bits.read;
  return deeds === none && tool.class === "destructive" ? bits.remove : deeds;
}

/** The share of its score that a tool keeps when something is wanted, by what the tool does. */
export function fitsOf(demand: Deeds): readonly number[] {
  return Array.from({ length: combinations }, (_, deeds) => fitOf(deeds, demand));
}

function fitOf(deeds: Deeds, demand: Deeds): number {
  if (demand === none || (deeds & demand) !== none) return 1;
  if ((deeds & bits.read) !== none || demand === bits.read) return readsElseShare;
  if (deeds === bits.remove) return removesElseShare;
  return deeds === none ? 1 : changesElseShare;
}

function collectDeeds(): Map<string, Deeds> {
  const found = new Map<string, Deeds>();
  for (const [deed, words] of Object.entries(vocabulary.deeds)) {
    for (const word of words) found.set(word, (found.get(word) ?? none) | bits[deed as keyof typeof bits]);
  }
  return found;
}
