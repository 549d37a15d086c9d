import { setImmediate } from "node:timers/promises";
import type { Action, Catalog, CodeTool, Toolkit } from "@svc/catalog";
import { createSlices } from "@svc/core";
import SearchableMap from "minisearch/SearchableMap";
import { areTitlesRead, type Phrase, phrasesOf, readTitles } from "./phrases.ts";
import { formMark, weighTerms } from "./tool-terms.ts";
import { type VerbClasses, verbClassesOf } from "./verb-classes.ts";

/**
 * The tools that contain a term. `places`: their positions in `tools`, in ascending order. `strengths`: for each of them, the strength of
 * the term.
 */
export type Postings = { readonly places: Uint32Array; readonly strengths: Float64Array };

/** A tool that the search can find. Only tools that can be called are found. */
export type SearchedTool = Action | CodeTool;

/**
 * Search index of a toolkit (one app): the tools that can be called, and the terms (words) that each tool contains. Each array with an
 * entry per tool has the same order as `tools`.
 */
export type ToolkitIndex = {
  readonly toolkitSlug: string;
  /** True for a toolkit (app) of the caller's project. False for one that all projects share. */
  readonly isPrivate: boolean;
  /** The tools of the toolkit (app), ordered by slug. */
  readonly tools: readonly SearchedTool[];
  readonly verbClasses: readonly VerbClasses[];
  /** Number of tools in the toolkit (app) that have example phrases. */
  readonly saidCount: number;
  readonly terms: ReadonlyMap<string, Postings>;
  /** Returns the example phrases of a tool (sentences of users that the tool answers), prepared for search at the first call. */
  phrasesOf(place: number): readonly Phrase[];
  /** Returns the terms as a radix tree, with which terms similar to a word are found. Created at the first call. */
  spellings(): SearchableMap<true>;
};

const indexes = new WeakMap<Toolkit, ToolkitIndex>();
/** Indexes that are being made in the background, by toolkit. */
const started = new WeakMap<Toolkit, Promise<void>>();

/** Returns the search index of a toolkit. It is created once and shared by all callers. */
export function indexOf(toolkit: Toolkit): ToolkitIndex {
  const known = indexes.get(toolkit);
  if (known !== undefined) return known;
  const made = endOf(buildIndex(toolkit));
  indexes.set(toolkit, made);
  return made;
}

/** Runs a generator to its end without a pause, and returns its result. */
export function endOf<T>(steps: Generator<void, T>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/**
 * Creates the missing search indexes of the toolkits that a caller sees, and reads the titles of the project's programs. Other work of the
 * event loop runs in between, because the phrases of all tools that svc ships take about half a second. Returns undefined if nothing is
 * missing.
 */
export function prepareIndexes({ toolkits, titles }: Catalog): Promise<void> | undefined {
  const missing = [...toolkits.values()].filter((toolkit) => !indexes.has(toolkit));
  const unread = titles === undefined || areTitlesRead(titles) ? undefined : titles;
  return missing.length === 0 && unread === undefined ? undefined : prepareAll(missing, unread);
}

async function prepareAll(toolkits: readonly Toolkit[], titles: Catalog["titles"]): Promise<void> {
  if (titles !== undefined) await inSlices(readTitles(titles));
  for (const toolkit of toolkits) {
    const making = started.get(toolkit) ?? prepare(toolkit);
    started.set(toolkit, making);
    await making;
  }
}

async function prepare(toolkit: Toolkit): Promise<void> {
  const made = await inSlices(buildIndex(toolkit));
  // A search without this preparation may have made the index in between.
  if (!indexes.has(toolkit)) indexes.set(toolkit, made);
}

async function inSlices<T>(steps: Generator<void, T>): Promise<T> {
  const slices = createSlices(setImmediate);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    const pause = slices.rest();
    if (pause !== undefined) await pause;
  }
}

/** Makes the index of a toolkit. Yields after each tool, so that other work can run in between. */
// The index of the library MiniSearch is not used, because toolkits cannot share it. It took 2 ms (median) for 10,000 tools, and this index
// takes 0.8 ms.
function* buildIndex(toolkit: Toolkit): Generator<void, ToolkitIndex> {
  const tools = [...toolkit.actions, ...toolkit.codeTools].filter(({ callable }) => callable);
  const terms = new Map<string, { places: number[]; strengths: number[] }>();
  const phrases = new Map<number, readonly Phrase[]>();
  for (const [place, tool] of tools.entries()) {
    yield;
    // The phrases of shipped tools are too many to read before they are needed, and those of private ones too foreign to read all at once.
    if (toolkit.ownerProjectId !== "") {
      phrases.set(place, phrasesOf(tool, toolkit));
      yield;
    }
    for (const [term, strength] of weighTerms(tool, toolkit)) {
      let postings = terms.get(term);
      if (postings === undefined) {
        postings = { places: [], strengths: [] };
        terms.set(term, postings);
      }
      postings.places.push(place);
      postings.strengths.push(strength);
    }
  }
  let spellings: SearchableMap<true> | undefined;
  return {
    toolkitSlug: toolkit.slug,
    isPrivate: toolkit.ownerProjectId !== "",
    tools,
    verbClasses: tools.map(verbClassesOf),
    saidCount: tools.filter(({ name }) => toolkit.sayings?.has(name)).length,
    terms: new Map(
      [...terms].map(([term, { places, strengths }]) => [
        term,
        { places: Uint32Array.from(places), strengths: Float64Array.from(strengths) },
      ]),
    ),
    phrasesOf(place) {
      let found = phrases.get(place);
      if (found === undefined) {
        const tool = tools[place];
        found = tool === undefined ? [] : phrasesOf(tool, toolkit);
        phrases.set(place, found);
      }
      return found;
    },
    spellings() {
      spellings ??= SearchableMap.from(
        [...terms.keys()].filter((term) => !term.startsWith(formMark)).map((term) => [term, true] as const),
      );
      return spellings;
    },
  };
}
