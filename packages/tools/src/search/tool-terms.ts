import type { Action, Tool, Toolkit } from "@svc/catalog";
import { countSaid, sayingsOf, withoutNames } from "./phrases.ts";
import { isTelling, termsOf, wordsOf } from "./words.ts";

/** Weight of one text of a tool in the search (for example its name or its summary), and the usual number of terms in this text. */
type Field = { readonly weight: number; readonly usualLength: number };

/**
 * For each text of a tool: its weight in the search, and its usual number of words. The weights were chosen with the queries of
 * bench/search.
 */
const fields = {
  // Of 277 random settings, these are near the mean of the best fifth. Small changes of one weight give similar results.
  name: { weight: 2, usualLength: 3 },
  toolkit: { weight: 1, usualLength: 4 },
  toolkitDescription: { weight: 0.1, usualLength: 15 },
  summary: { weight: 1.5, usualLength: 10 },
  description: { weight: 0.8, usualLength: 20 },
  intents: { weight: 3, usualLength: 20 },
  argumentNames: { weight: 0.2, usualLength: 10 },
  argumentTexts: { weight: 0.05, usualLength: 50 },
  request: { weight: 0, usualLength: 5 },
} satisfies Record<string, Field>;

/**
 * Weights for a tool whose toolkit (app) has no example phrases. The intents (typical requests in the tool's definition) weigh more, so
 * that the tool does not come last only because phrases are missing. The description also weighs more, because it has some of the words
 * that phrases would have.
 */
const unsaid: Readonly<Partial<Record<string, Field>>> = {
  toolkitDescription: { weight: 0.6, usualLength: 15 },
  description: { weight: 1.2, usualLength: 20 },
  intents: { weight: 7, usualLength: 20 },
  // The name of an imported tool is the document's operation id, which may not say what the operation does.
  request: { weight: 0.6, usualLength: 5 },
};

/** Words of queries for each HTTP method of a request. */
const deeds: Readonly<Record<Action["request"]["method"], string>> = {
  GET: "get list",
  POST: "create",
  PUT: "update",
  PATCH: "update",
  DELETE: "delete",
};

/**
 * Factor for the weight of every text of a tool that has neither intents (typical requests in its definition) nor example phrases, for
 * example a skill. It makes up for the missing texts.
 */
const bareShare = 2.5;

/**
 * Prefix that marks the unchanged form of a word in a tool's name, such as `deals`. This form is indexed in addition to the stem, to
 * distinguish `list_deals` from `get_deal`. No real word contains the prefix.
 */
export const formMark = "=";

/**
 * Parameter k1 of BM25 (a ranking formula): how soon more occurrences of a term in a field stop counting. `lengthShare`: parameter b, which
 * says how much the length of the field matters.
 */
const saturation = 0.6;
const lengthShare = 0.4;
/**
 * Parameters for the example phrases of a tool. `weight`: how much they count. `saturation`: the smaller it is, the less each further
 * phrase with the same term adds. `lengthShare`: how much the number of phrases matters. `usualCount`: the usual number of phrases.
 */
const said = { weight: 5, saturation: 1.6, lengthShare: 0.75, usualCount: 25 };

/**
 * Returns how strongly each term describes a tool: the ranking formula BM25 summed over the tool's fields. The rarity of the term among all
 * tools is not included. Field lengths are compared with fixed values, not with an average over all tools. So the result depends only on
 * the tool's toolkit (all tools of one app).
 */
export function weighTerms(tool: Tool, toolkit: Toolkit): ReadonlyMap<string, number> {
  const strengths = new Map<string, number>();
  const isUnsaid = toolkit.sayings === undefined;
  const share = isUnsaid && tool.intents.length === 0 ? bareShare : 1;
  for (const [field, texts] of Object.entries(textsOf(tool, toolkit))) {
    const own = isUnsaid ? unsaid[field] : undefined;
    const { usualLength, weight } = own ?? fields[field as keyof typeof fields];
    // A term without weight would still count as held by the tool, and so lower the weight of the term for all tools.
    if (weight === 0) continue;
    const terms = texts.flatMap(termsOf);
    const slowness = saturation * (1 - lengthShare + (lengthShare * terms.length) / usualLength);
    for (const [term, count] of countOf(terms)) {
      strengths.set(term, (strengths.get(term) ?? 0) + (share * weight * count) / (count + slowness));
    }
  }
  const sayings = sayingsOf(tool, toolkit);
  const slowness = said.saturation * (1 - said.lengthShare + (said.lengthShare * sayings.length) / said.usualCount);
  for (const [term, count] of countSaid(sayings)) {
    strengths.set(term, (strengths.get(term) ?? 0) + (said.weight * count) / (count + slowness));
  }
  for (const word of wordsOf(tool.name).filter(isTelling)) strengths.set(formMark + word, 1);
  return strengths;
}

function countOf(terms: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

function textsOf(tool: Tool, toolkit: Toolkit): Record<keyof typeof fields, readonly string[]> {
  const [summary = "", ...rest] = ownClauses(tool, toolkit);
  const properties = propertiesOf(tool.inputSchema);
  return {
    name: [tool.name],
    toolkit: [toolkit.slug, toolkit.name],
    toolkitDescription: [toolkit.description],
    summary: [summary],
    description: rest,
    intents: toolkit.sayings === undefined ? tool.intents : tool.intents.map(withoutNames),
    argumentNames: Object.keys(properties),
    argumentTexts: Object.values(properties).flatMap(descriptionOf),
    request: requestTexts(tool),
  };
}

/**
 * Returns the words of a tool's HTTP request: what its method does, and the fixed parts of its path. Returns nothing for a tool of an MCP
 * server, because all of them are called at the same address.
 */
function requestTexts(tool: Tool): readonly string[] {
  if (tool.kind !== "action" || tool.mcp !== undefined) return [];
  const { method, path } = tool.request;
  if (path.kind === "constant") return [deeds[method], String(path.value)];
  return path.kind === "text" ? [deeds[method], ...path.template.parts.filter((part) => typeof part === "string")] : [];
}

/**
 * Returns the clauses of a description. Clauses that refer to another tool of the same app are left out, because they describe what this
 * tool does not do.
 */
function ownClauses(tool: Tool, toolkit: Toolkit): string[] {
  const names = new Set([...toolkit.actions, ...toolkit.codeTools].map(({ name }) => name));
  names.delete(tool.name);
  const isForeign = (clause: string) =>
    clause.match(/[a-z0-9]+(?:_[a-z0-9]+)+/g)?.some((word) => names.has(word)) ?? false;
  return tool.description.split(/(?<=[.;:,])\s+/).filter((clause) => !isForeign(clause));
}

function descriptionOf(schema: unknown): string[] {
  const isObject = typeof schema === "object" && schema !== null;
  return isObject && "description" in schema && typeof schema.description === "string" ? [schema.description] : [];
}

/**
 * Returns the arguments of a tool without the argument that confirms a call. Every destructive tool has it, so it does not distinguish
 * tools.
 */
function propertiesOf(schema: Tool["inputSchema"]): Readonly<Record<string, unknown>> {
  const { properties } = schema as { readonly properties?: Readonly<Record<string, unknown>> };
  return Object.fromEntries(Object.entries(properties ?? {}).filter(([name]) => name !== "confirm"));
}
