import { setImmediate } from "node:timers/promises";
import { createSlices, formatValue, isObject } from "@svc/core";
import { isPhraseForm } from "../check/check-definitions.ts";
import { nearest } from "../check/nearest.ts";
import { catalogFaults, type PhraseProblem } from "../errors.ts";
import { safeText } from "../import/texts.ts";
import type { Toolkit } from "../model.ts";

/**
 * Limits of the search phrases that a project adds to a private toolkit. `perTool`: maximum number per tool. `length`: maximum characters of
 * a phrase. `bytes`: maximum size of all phrases of the toolkit as JSON text.
 */
const limits = { perTool: 60, length: 200, bytes: 262_144 };
/** Maximum characters of a phrase before svc removes markup and invisible characters. */
const rawLengthMax = 400;
/** Maximum number of problems that svc reports for one request. */
const problemsMax = 100;

/** Phrases of tools by the tool's name, sorted by name. */
type PhrasesByTool = ReadonlyMap<string, readonly string[]>;
/** Phrases of one tool as a request gives them, before svc checks them. */
type GivenPhrases = { readonly tool: string; readonly phrases: readonly string[] };

/**
 * Returns a private toolkit with the project's stored search phrases added to its tools. Returns the same toolkit if none of its tools has
 * a phrase. Phrases of tools that the toolkit does not have are ignored.
 */
export function withPhrases(toolkit: Toolkit, text: string): Toolkit {
  const phrases = readPhrases(text);
  if (!toolkit.actions.some(({ name }) => phrases.has(name))) return toolkit;
  const actions = toolkit.actions.map((action) => {
    const added = phrases.get(action.name);
    return added === undefined ? action : { ...action, phrases: added };
  });
  return { ...toolkit, actions };
}

function readPhrases(text: string): PhrasesByTool {
  const stored: unknown = text === "" ? {} : JSON.parse(text);
  // svc wrote the text with `phrasesText`.
  return new Map(isObject(stored) ? (Object.entries(stored) as [string, readonly string[]][]) : []);
}

/** Returns the text that svc stores for checked phrases. Empty if there are none. */
export function phrasesText(phrases: PhrasesByTool): string {
  return phrases.size === 0 ? "" : JSON.stringify(Object.fromEntries(phrases));
}

/**
 * Returns the phrases of a request in the form in which svc stores them: without markup and invisible characters, and each phrase once.
 * Rejects with PHRASES_INVALID if a phrase or a tool is wrong. Pauses between the phrases, so that other work of the node can run.
 */
export async function checkPhrases(toolkit: Toolkit, given: readonly GivenPhrases[]): Promise<PhrasesByTool> {
  const slices = createSlices(setImmediate);
  const problems: PhraseProblem[] = [];
  const phrases = new Map<string, readonly string[]>();
  const names = new Set<string>();
  for (const [at, { tool, phrases: texts }] of given.entries()) {
    await slices.rest();
    if (problems.length >= problemsMax) break;
    const problem = problemOfTool(toolkit, { tool, count: texts.length, isRepeated: names.has(tool) });
    names.add(tool);
    if (problem !== undefined) {
      problems.push({ field: `tools[${at}]`, ...problem });
      continue;
    }
    const cleaned = new Set<string>();
    for (const [index, text] of texts.entries()) {
      await slices.rest();
      const read = readPhrase(text);
      if (typeof read === "string") {
        cleaned.add(read);
        continue;
      }
      const [reason, cure] = read;
      const said = `the phrase ${formatValue(text)} of ${formatValue(tool)} ${reason}`;
      problems.push({ field: `tools[${at}].phrases[${index}]`, says: said, help: cure });
    }
    if (cleaned.size > 0) phrases.set(tool, [...cleaned]);
  }
  const sorted = new Map([...phrases].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  const bytes = Buffer.byteLength(phrasesText(sorted));
  if (problems.length === 0 && bytes > limits.bytes) {
    const says = `the phrases of ${formatValue(toolkit.slug)} have ${bytes} bytes`;
    problems.push({ field: "tools", says, help: `Shorten them to ${limits.bytes} bytes.` });
  }
  if (problems.length > 0) throw catalogFaults.PHRASES_INVALID(problems.slice(0, problemsMax));
  return sorted;
}

type ToolToCheck = { readonly tool: string; readonly count: number; readonly isRepeated: boolean };

function problemOfTool(
  { slug, actions }: Toolkit,
  { tool, count, isRepeated }: ToolToCheck,
): Omit<PhraseProblem, "field"> | undefined {
  const named = formatValue(tool);
  if (!actions.some(({ name }) => name === tool)) {
    const meant = nearest(
      tool,
      actions.map(({ name }) => name),
    );
    const help = meant === undefined ? "Name one that it has, or remove it." : `Did you mean ${meant}?`;
    return { says: `${named} is not a tool of ${formatValue(slug)} that can be called`, help };
  }
  if (isRepeated) return { says: `the tool ${named} is listed twice`, help: "List all its phrases together." };
  if (count > limits.perTool)
    return { says: `the tool ${named} has ${count} phrases`, help: `Keep at most ${limits.perTool}.` };
  return undefined;
}

/** Returns a phrase as svc stores it, or the reason that svc refuses it and the correction. */
function readPhrase(text: string): string | readonly [reason: string, cure: string] {
  const tooLong = `Write at most ${limits.length} characters.`;
  if (text.length > rawLengthMax) return [`has ${text.length} characters`, tooLong];
  const phrase = safeText(text, rawLengthMax);
  if (phrase === undefined) return ["gives orders to its reader, or hides data", "Write what users say."];
  if (phrase === "") return ["is empty", "Write what users say, or remove it."];
  if (phrase.length > limits.length) return [`has ${phrase.length} characters`, tooLong];
  if (!isPhraseForm(phrase))
    return ["has an incomplete choice", "Write choices such as (call|ring|), and none inside another."];
  return phrase;
}

/**
 * A saved program of a project, such as a skill. `titles`: what the program does, in words of its author. `toolSlugs`: tools that it calls.
 */
export type TitledProgram = { readonly titles: readonly string[]; readonly toolSlugs: readonly string[] };

/**
 * Maximum number of tools of a program whose title says something about each of them, and maximum number of titles for one tool. The first
 * programs have priority.
 */
const titleLimits = { tools: 5, perTool: 10 };

/**
 * Returns, for each tool, the titles of the project's programs that call it. The keys are slugs of tools. Suspicious and empty titles are
 * left out.
 */
export function titlesByTool(programs: readonly TitledProgram[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const { titles, toolSlugs } of programs) {
    if (toolSlugs.length > titleLimits.tools) continue;
    const cleaned = titles.map((title) => safeText(title, limits.length) ?? "").filter((title) => title !== "");
    for (const slug of toolSlugs) {
      const known = found.get(slug) ?? new Set();
      for (const title of cleaned) if (known.size < titleLimits.perTool) known.add(title.replaceAll(/[()|]/g, " "));
      found.set(slug, known);
    }
  }
  return new Map([...found].map(([slug, titles]) => [slug, [...titles]]));
}
