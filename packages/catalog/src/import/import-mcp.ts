import { createHash } from "node:crypto";
import { parseExactJson, withPlainNumbers } from "@svc/core";
import type { AuthDocument, OauthDocument, ToolkitDocument } from "../read/documents.ts";
import { ImportError, LeftOutError } from "./import-fault.ts";
import { countClasses, type ImportedToolkit, type ImportOptions, ruledClassesOf } from "./import-openapi.ts";
import { mcpTool, type OfferedTool } from "./mcp-tool.ts";
import type { ImportedTool } from "./operation.ts";
import { ExternalReferenceError } from "./read.ts";
import { listOf, objectOf } from "./schema.ts";
import { type LeftOut, listedLeftOut } from "./select.ts";
import { globOf, plainText, quotedTexts, snakeCase, wordsOf } from "./texts.ts";
import { checkOverrides, cutName, overrideOf } from "./tool-names.ts";

/**
 * The description of an MCP server and of its tools, as the server sent it. `version`: version of the server. `protocol`: revision of MCP
 * that svc and the server use. `pages`: the responses to `tools/list` as JSON texts, in their order; empty if the server lists its tools
 * only to a connected account.
 */
export type McpListing = {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly protocol: string;
  readonly pages: readonly string[];
};

/**
 * Options of the import of an MCP server. `url`: address of the server. `header`: header that carries an account's key; empty if none.
 * `oauth`: scheme by which accounts are connected if there is no such header; undefined if the server wants no credential.
 */
export type McpImportOptions = Pick<
  ImportOptions,
  "slug" | "category" | "only" | "except" | "overrides" | "refused" | "accepted"
> & {
  readonly url: string;
  readonly header: string;
  readonly oauth?: OauthDocument | undefined;
};

/** Limits of an import: the maximum number of tools, bytes of one tool, and bytes of all tools together. */
const [toolsMax, toolBytesMax, bytesMax] = [1_500, 40_960, 4_100_000];
/** Maximum size of all regular expressions of an imported toolkit together, in instructions of the compiled expressions. */
const patternsMax = 4_500;
const nameMax = 60;

/** Returns the toolkit (the tools of one app) that an MCP server describes, with a report. Throws ImportError. */
export function importMcp(listing: McpListing, options: McpImportOptions): ImportedToolkit {
  const toolkit = describe(listing, options);
  const offered = readTools(listing.pages);
  if (offered.length > toolsMax) throw tooManyTools(offered.length);
  const made = toolsWithin(offered, { ...options, slug: toolkit.slug });
  return {
    names: {},
    moved: {},
    flagged: made.tools.filter(([, { isFlagged }]) => isFlagged).map(([name]) => name),
    ruledClasses: ruledClassesOf(made.tools),
    definitionJson: JSON.stringify({
      toolkit,
      tools: Object.fromEntries(made.tools.map(([name, { document }]) => [name, document])),
    }),
    report: {
      title: toolkit.name,
      version: plainText(listing.version, 60),
      format: `MCP ${listing.protocol}`.trim(),
      baseUrl: options.url,
      foreignHost: "",
      operations: offered.length,
      classes: countClasses(made.tools),
      leftOut: listedLeftOut(made.leftOut),
      notes: [
        ...options.refused.map(({ tool, detail }) => ({ tool, kind: "refused", detail: plainText(detail, 300) })),
        ...made.unused,
        ...made.tools.flatMap(([tool, { notes }]) => notes.map((note) => ({ tool, ...note }))),
      ],
      suggestions: made.tools.flatMap(([tool, { suggested }]) =>
        suggested === undefined ? [] : [{ tool, class: suggested }],
      ),
    },
  };
}

/**
 * Returns the description of an MCP server and its tools as one text. It omits the ids of messages, which differ at each reading, so that
 * an unchanged server gives the same text.
 */
export function listingText({ pages, ...server }: McpListing): string {
  return JSON.stringify({ ...server, tools: readTools(pages).map(({ node }) => node) });
}

function readTools(pages: readonly string[]): OfferedTool[] {
  return pages.flatMap((page) => {
    const { result } = objectOf(parseExactJson(page, { depthMax: 200 }));
    const tools = objectOf(result)["tools"];
    return listOf(tools).flatMap((exact) => {
      const node = objectOf(withPlainNumbers(exact));
      return typeof node["name"] === "string" ? [{ name: node["name"], node, exact }] : [];
    });
  });
}

type MadeTools = {
  readonly tools: readonly (readonly [name: string, tool: ImportedTool])[];
  readonly leftOut: readonly LeftOut[];
  readonly unused: ImportedToolkit["report"]["notes"];
};

/** Returns the tools that a server offers as tools of svc. If they are too large together, halves the size of each until they fit. */
function toolsWithin(offered: readonly OfferedTool[], options: McpImportOptions): MadeTools {
  const selected = offered.filter(({ name }) => {
    const isNamed = (globs: readonly string[]) => globs.some((glob) => globOf(glob)(name));
    return (options.only.length === 0 || isNamed(options.only)) && !isNamed(options.except);
  });
  const names = namesOf(selected, options.slug);
  const unused = checkOverrides(names, options);
  for (let most = toolBytesMax; most >= 1_000; most /= 2) {
    const made = { ...makeTools(selected, { ...options, names, bytesMax: most }), unused };
    if (Buffer.byteLength(JSON.stringify(made.tools.map(([, { document }]) => document))) <= bytesMax) return made;
  }
  throw tooManyTools(offered.length);
}

type MakeOptions = McpImportOptions & { readonly names: readonly string[]; readonly bytesMax: number };

function makeTools(offered: readonly OfferedTool[], options: MakeOptions): Omit<MadeTools, "unused"> {
  const made = new Map<string, ImportedTool>();
  const leftOut: LeftOut[] = [];
  const patterns = { left: patternsMax, known: new Set<string>() };
  const texts = new Set<string>();
  for (const [index, tool] of offered.entries()) {
    const name = options.names[index] ?? "";
    const override = overrideOf(name, options.overrides);
    const chosen = override?.name || name;
    try {
      if (options.refused.some((refused) => refused.tool === chosen)) throw new LeftOutError("refused");
      const isKnown = options.accepted?.has(chosen) === true;
      const host = new URL(options.url).host;
      const context = { patterns, override, texts, host, bytesMax: options.bytesMax, isKnown };
      made.set(chosen, mcpTool(tool, context));
    } catch (error) {
      const isKnown = error instanceof LeftOutError || error instanceof ExternalReferenceError;
      if (!isKnown) throw error;
      const reason = error instanceof LeftOutError ? error.message : "external_ref";
      const { title, description } = tool.node;
      leftOut.push({
        ...{ operation: plainText(tool.name, 200), reason },
        ...(reason === "flagged" && { name, description: quotedTexts([title, description]) }),
      });
    }
  }
  return { tools: [...made], leftOut };
}

/**
 * Returns the names that the server's tools get in svc: snake case, without the slug of the toolkit at the beginning. If several tools get
 * the same name, or none, a short hash of the server's name is added.
 */
function namesOf(offered: readonly OfferedTool[], slug: string): string[] {
  const wanted = offered.map(({ name }) => {
    const snake = snakeCase(name);
    const short = snake.startsWith(`${slug}_`) ? snakeCase(snake.slice(slug.length + 1)) : snake;
    return cutName(short);
  });
  const counts = Map.groupBy(wanted, (name) => name);
  return wanted.map((name, index) => {
    const isUnique =
      name !== "" && (counts.get(name)?.length ?? 0) < 2 && snakeCase(offered[index]?.name ?? "").length <= nameMax;
    if (isUnique) return name;
    const digest = createHash("sha256")
      .update(offered[index]?.name ?? "")
      .digest("hex")
      .slice(0, 6);
    return `${cutName(name || "tool", nameMax - 8)}_x${digest}`;
  });
}

function describe(listing: McpListing, options: McpImportOptions): ToolkitDocument {
  const { slug, category, url } = options;
  const { host, hostname } = new URL(url);
  const name = plainText(listing.title, 60) || plainText(listing.name, 60) || host;
  const words = wordsOf(listing.name || hostname).filter((word) => !["mcp", "server", "the", "com"].includes(word));
  const named = slug || cutName(snakeCase(words.join(" "))) || "server";
  if (!/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(named) || named.length > nameMax)
    throw new ImportError(
      "SOURCE_INVALID",
      `slug ${JSON.stringify(named.slice(0, 80))} is not a toolkit slug`,
      "Write lower-case words joined by _, at most 60 characters.",
    );
  return {
    slug: named,
    name,
    description: `Tools of the MCP server ${name === host ? "" : `${name} `}at ${host}.`.slice(0, 400),
    version: /^\d+\.\d+\.\d+$/.test(listing.version) ? listing.version : "1.0.0",
    category: category || "developer-infrastructure",
    mcp: { url },
    auth: [authOf(options)],
  };
}

function authOf({ header, oauth }: McpImportOptions): AuthDocument {
  if (header !== "") return { type: "api_key", placement: "header", name: header, value: keyValue(header) };
  return oauth ?? { type: "none" };
}

function keyValue(header: string): string {
  return header.toLowerCase() === "authorization" ? "Bearer {{credential.key}}" : "{{credential.key}}";
}

function tooManyTools(count: number): ImportError {
  const problem = `${count} tools make too large a toolkit; a private toolkit has at most ${toolsMax} tools and 4 MiB`;
  return new ImportError("TOOLKIT_TOO_LARGE", problem, "Select some by name: only search_*, list_*.");
}
