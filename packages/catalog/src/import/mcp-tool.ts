import { isObject } from "@svc/core";
import { isTemplateName, mcpToolDigest } from "../build/mcp-request.ts";
import type { AccessClass, ActionDocument, JsonSchema } from "../read/documents.ts";
import { LeftOutError } from "./import-fault.ts";
import { hasAllowedHeaders } from "./mcp-headers.ts";
import { chosenClass, fittingTool, type ImportedTool, type ToolOverride, type ToolSchemaLimits } from "./operation.ts";
import type { DocumentNode } from "./read.ts";
import { objectOf, type SchemaConversion, SchemaConverter, typesOf } from "./schema.ts";
import { plainText, safeText, wordsOf } from "./texts.ts";

/**
 * A tool that an MCP server offers. `exact`: the tool as the server sent it. `node`: the same tool, with its numbers converted to doubles.
 */
export type OfferedTool = { readonly name: string; readonly node: DocumentNode; readonly exact: unknown };

const [descriptionMin, descriptionMax] = [40, 800];

/**
 * Limits and choices for the conversion of one tool. `override`: a person's own choice for the tool. `host`: host of the MCP server.
 * `texts`: the descriptions of the tools that were converted before. `bytesMax`: maximum size of the tool as JSON, in bytes. `isKnown`: true
 * for a tool of the accepted definition, so that a suspicious text does not leave it out.
 */
type McpToolOptions = {
  readonly bytesMax: number;
  readonly patterns: SchemaConversion["patterns"];
  readonly override: ToolOverride | undefined;
  readonly host: string;
  readonly texts: Set<string>;
  readonly isKnown: boolean;
};

/**
 * Returns the tool of svc for a tool that an MCP server offers. Throws LeftOutError if it cannot become one, and ExternalReferenceError if
 * its schema refers to another document.
 */
export function mcpTool(tool: OfferedTool, options: McpToolOptions): ImportedTool {
  const { name, node, exact } = tool;
  if (name.length > 200 || objectOf(node["execution"])["taskSupport"] === "required") {
    throw new LeftOutError(name.length > 200 ? "refused" : "needs_tasks");
  }
  const digest = mcpToolDigest(exact);
  if (digest === undefined) throw new LeftOutError("too_large");
  if (!hasAllowedHeaders(objectOf(node["inputSchema"]))) throw new LeftOutError("invalid_headers");
  const description = descriptionOf(name, node, options);
  const make = (schemas: ToolSchemaLimits) => convert(tool, { ...options, ...schemas, description, digest });
  return fittingTool(options.bytesMax, make).tool;
}

type ConvertOptions = McpToolOptions &
  ToolSchemaLimits & { readonly description: Description; readonly digest: string };
/** Description of a tool. `isFlagged`: true if it gives orders to its reader, and no person wrote it. */
type Description = { readonly text: string; readonly isFlagged: boolean };

function convert({ name, node }: OfferedTool, options: ConvertOptions): ImportedTool {
  const { patterns, override, description, digest } = options;
  const cuts = new Map<string, number>();
  const onCut = (reason: string, count = 1) => cuts.set(reason, (cuts.get(reason) ?? 0) + count);
  const hints = objectOf(node["annotations"]);
  const said = saidClass(hints);
  const ruledClass = said ?? "destructive";
  const access = chosenClass(override) ?? ruledClass;
  const given = objectOf(node["inputSchema"]);
  const converter = new SchemaConverter({ root: given, part: "input", limits: options.input, patterns, onCut });
  const taken = argumentsOf(converter.convert(given, "arguments"), given, access);
  const document: ActionDocument = {
    kind: "action",
    class: access,
    description: description.text,
    input: taken.input,
    output: outputOf(node["outputSchema"], { limits: options.output, patterns, onCut }),
    mcp: { tool: name, digest, ...(taken.isWhole && { argument: "arguments" }) },
  };
  const cut = [...cuts].map(([reason, count]) => `${reason} ${count}`).join(", ");
  return {
    document,
    isFlagged: description.isFlagged,
    ruledClass,
    suggested: said === undefined && chosenClass(override) === undefined ? milderClass(name) : undefined,
    notes: [
      { kind: "says", detail: said === undefined ? "nothing" : `${saidWords[said]}` },
      ...(cut === "" ? [] : [{ kind: "cut", detail: cut }]),
    ],
  };
}

const saidWords = { read: "it reads", write: "it destroys nothing", destructive: "it destroys" };

/** Returns the access class of a tool by the server's hints; undefined if the hints do not say it. */
function saidClass(hints: DocumentNode): AccessClass | undefined {
  if (hints["readOnlyHint"] === true) return "read";
  if (hints["destructiveHint"] === false) return "write";
  return hints["destructiveHint"] === true ? "destructive" : undefined;
}

const readVerbs = new Set("describe fetch find get list lookup query read search show".split(" "));
const writeVerbs = new Set(
  "add append comment create draft insert post put reply save send set update upload upsert write".split(" "),
);

/** Returns the access class that a tool's name suggests; undefined if it suggests none that is milder than `destructive`. */
function milderClass(name: string): AccessClass | undefined {
  const [first = "", second = ""] = wordsOf(name);
  const verb = [first, second].find((word) => readVerbs.has(word) || writeVerbs.has(word));
  if (verb === undefined) return undefined;
  return readVerbs.has(verb) ? "read" : "write";
}

/** Names that an argument cannot have, because svc uses them itself. */
const ownNames: Readonly<Record<AccessClass, readonly string[]>> = { read: [], write: [], destructive: ["confirm"] };

/**
 * Returns the input schema of a tool. `isWhole`: the tool has one argument that holds all arguments of the server's tool. That is so if the
 * server's schema does not name them, or if svc cannot use a name.
 */
function argumentsOf(
  made: JsonSchema,
  given: DocumentNode,
  access: AccessClass,
): { readonly input: JsonSchema; readonly isWhole: boolean } {
  const { properties, required } = made;
  const names = Object.keys(isObject(properties) ? properties : {});
  const isOpen =
    names.length === 0 && given["additionalProperties"] !== undefined && given["additionalProperties"] !== false;
  const isUsable = names.every((name) => isTemplateName(name) && !ownNames[access].includes(name));
  const closed = { type: "object", additionalProperties: false };
  if (made["anyOf"] === undefined && !isOpen && isUsable) {
    return {
      input: { ...closed, properties: properties ?? {}, ...(required !== undefined && { required }) },
      isWhole: false,
    };
  }
  const { description: _text, ...schema } = made;
  const whole = {
    ...(typesOf(schema) === undefined && schema["anyOf"] === undefined ? { type: "object" } : {}),
    ...schema,
  };
  const argument = { ...whole, description: "All arguments of the server's tool, as one object." };
  return { input: { ...closed, properties: { arguments: argument }, required: ["arguments"] }, isWhole: true };
}

/** Result of a tool without an output schema: its texts, the value of a text that is JSON, and its other parts. */
const plainOutput: JsonSchema = {
  type: "object",
  properties: {
    text: { type: "string" },
    data: { type: ["object", "array"] },
    parts: {
      type: "array",
      items: {
        type: "object",
        properties: {
          type: { type: "string" },
          mimeType: { type: "string" },
          bytes: { type: "integer" },
          uri: { type: "string" },
        },
      },
    },
  },
};

function outputOf(schema: unknown, conversion: Pick<SchemaConversion, "limits" | "patterns" | "onCut">): JsonSchema {
  if (!isObject(schema)) return plainOutput;
  const made = new SchemaConverter({ ...conversion, root: schema, part: "output" }).convert(schema, "result");
  return typesOf(made)?.includes("object") === true || made["anyOf"] !== undefined ? made : { type: "object" };
}

/**
 * Returns the description of a tool for models. It ends with the name of the server's host, because the text is not svc's own. Throws
 * LeftOutError if the text of a new tool gives orders to its reader and no person wrote another.
 */
function descriptionOf(name: string, node: DocumentNode, options: McpToolOptions): Description {
  const { override, host, texts, isKnown: isAccepted } = options;
  const own = plainText(override?.description ?? "", descriptionMax);
  const given = [node["description"], node["title"], name];
  const isFlagged = own === "" && given.some((part) => safeText(part, 10_000) === undefined);
  if (isFlagged && !isAccepted) throw new LeftOutError("flagged");
  const [text, title] = given.map((part) => plainText(part, 10_000));
  const said = own || text || title || wordsOf(name).join(" ");
  const from = ` (from ${host})`;
  const plain = `${plainText(said, descriptionMax - from.length)}${from}`;
  const isKnown = texts.has(plain.toLowerCase());
  texts.add(plain.toLowerCase());
  if (!isKnown && plain.length >= descriptionMin) return { text: plain, isFlagged };
  const more = ` (${plainText(name, 200)}, a tool of the MCP server at ${host})`;
  return { text: `${plainText(said, descriptionMax - more.length)}${more}`, isFlagged };
}
