import type { CatalogView, ToolDefinition } from "@svc/catalog";
import type { ProjectPrincipal } from "@svc/core";
import type { ToolFinder } from "../embeddings/find-tools.ts";
import type { Confidence } from "../search/judge.ts";
import type { ToolQuery } from "../search/tool-search.ts";
import { readSearchRequest } from "../service/search-request.ts";
import { answered, firstSentence, type ToolAnswer } from "./answer.ts";
import { callerOf } from "./meta-tools.ts";

/** Arguments of search_tools after its schema accepted them. */
export type SearchArguments = {
  readonly query: string;
  readonly toolkit?: string;
  readonly access_class?: string;
  readonly limit?: number;
};

/**
 * The caller of a search (`principal`), the object that finds tools (`finder`), and a function that says if a tool can be called
 * (`availabilityOf`).
 */
export type SearchContext = Pick<ToolQuery, "availabilityOf"> & {
  readonly finder: ToolFinder;
  readonly principal: Pick<ProjectPrincipal, "projectId" | "binding">;
};

/**
 * Maximum number of characters in the line of a found tool. It is long enough to distinguish tools, and short enough for a list of fifty
 * tools.
 */
const lineMax = 140;

/**
 * Returns the answer of search_tools: one line for each matching tool, best first, and the confidence. Throws the errors of SearchTools.
 */
export async function answerSearch(
  view: CatalogView,
  args: SearchArguments,
  { finder, principal, availabilityOf }: SearchContext,
): Promise<ToolAnswer & { readonly structured: { readonly tools: readonly ToolLine[] } }> {
  const { query, toolkit = "", access_class: accessClass = "", limit = 0 } = args;
  const asked = readSearchRequest({ query, toolkitSlug: toolkit, accessClass, limit });
  const found = await finder.find(principal.projectId, view, { ...asked, binding: principal.binding, availabilityOf });
  const { confidence } = found;
  const tools = found.results.map((result) => ({ ...lineOf(result.tool), confidence: result.confidence }));
  if (confidence !== undefined)
    return answered({ confidence, tools }, [...tools.map(textOf), `Confidence: ${adviceFor[confidence]}`].join("\n"));
  const isUnknown = toolkit !== "" && !view.toolkits.has(toolkit);
  return answered(
    { tools },
    isUnknown ? `There is no toolkit ${JSON.stringify(toolkit)}. ${leaveOut}` : `No tool fits. ${sayOtherwise}`,
  );
}

/** Advice to an agent about the tools that a search found, for each level of confidence that the first tool is right. */
const adviceFor: Readonly<Record<Confidence, string>> = {
  high: "high. Take the first.",
  medium: "medium. Describe two of them and compare before you call one.",
  low: "low. Tell the user what is missing before you call, or say it in other words. Call nothing but a read.",
};

const leaveOut = "Leave toolkit out to search all of them.";
const sayOtherwise = "Say it in other words, or with fewer filters.";

type ToolLine = {
  readonly slug: string;
  readonly description: string;
  readonly accessClass: string;
  readonly requiredArguments: readonly string[];
  /** Name of the meta-tool (`read_tool` or `call_tool`) with which the agent calls the tool that the search found. */
  readonly callWith: string;
};

function lineOf({ slug, description, class: accessClass, inputSchema }: ToolDefinition): ToolLine {
  const required = Array.isArray(inputSchema["required"]) ? inputSchema["required"].map(String) : [];
  return {
    slug,
    description: firstSentence(description, lineMax),
    accessClass,
    requiredArguments: required,
    callWith: callerOf(accessClass),
  };
}

function textOf({ slug, description, accessClass, requiredArguments, callWith }: ToolLine): string {
  return `${slug}(${requiredArguments.join(", ")}) [${accessClass}: ${callWith}] ${description}`;
}
