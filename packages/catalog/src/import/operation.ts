import { type AccessClass, type ActionDocument, accessClasses, type JsonSchema } from "../read/documents.ts";
import { withNulls } from "../schema/json-schema.ts";
import { schemaSize, schemaSizeMax } from "../schema/judging-cost.ts";
import { parametersOf } from "./arguments.ts";
import { bodyOf } from "./bodies.ts";
import { classOf, destructiveVerbIn, mayOnlyRead, mayTakeAway } from "./classes.ts";
import { LeftOutError } from "./import-fault.ts";
import { pagingOf } from "./paging.ts";
import { type DocumentNode, resolved } from "./read.ts";
import { resultOf } from "./results.ts";
import { objectOf, type SchemaConversion, SchemaConverter, type SchemaLimits } from "./schema.ts";
import type { Operation } from "./select.ts";
import { plainText, safeText, textOf, wordsOf } from "./texts.ts";

/** The name, access class and description that a person chose for an imported tool. They replace those of the imported document. */
export type ToolOverride = { readonly name: string; readonly class: string; readonly description: string };

/**
 * A remark about an imported tool, for the person who imports. `kind`: `paging` or `idempotency` for settings that svc found, `cut` for
 * schemas that were shortened, and `flagged` for suspicious texts of arguments, which svc leaves out.
 */
export type ToolNote = { readonly kind: string; readonly detail: string };

/**
 * A tool made from an operation of an OpenAPI document. `suggested`: another access class that may be the right one, for example `read` for
 * a POST that probably only reads. A person decides if it is set. Undefined if there is no suggestion.
 */
export type ImportedTool = {
  readonly document: ActionDocument;
  readonly notes: readonly ToolNote[];
  readonly suggested: AccessClass | undefined;
  /** True if its texts give orders to their reader. Only tools that `isKnown` knows can be so; others are left out. */
  readonly isFlagged: boolean;
  /** Access class that the tool has without a person's choice, or the stricter class that its operation suggests. */
  readonly ruledClass: AccessClass;
};

/** Values that are the same for all operations of one imported document. `bytesMax`: maximum size of one tool as JSON, in bytes. */
export type OperationContext = {
  readonly root: DocumentNode;
  readonly patterns: SchemaConversion["patterns"];
  readonly idempotencyHeader: string;
  readonly bytesMax: number;
  /** Beginning of each operation's path that is a part of the base address, such as `/{token}` for a key in the path. May be empty. */
  readonly keyPrefix: string;
  /** Places in which svc sends the credential of an account, such as `header x-api-key`, in lower case. */
  readonly credentials: ReadonlySet<string>;
  scopesOf(operation: Operation): readonly string[];
  /** False if the operation needs a credential, and only one that svc does not send. */
  isAuthorized(operation: Operation): boolean;
  /** False if the operation has servers of its own, and none of them is the address of the toolkit. */
  isServed(operation: Operation): boolean;
  /** True if the operation is a tool of an earlier import, so that suspicious texts do not leave it out. */
  isKnown(operation: Operation): boolean;
};

/** Limits for the input and output schemas of an imported tool. svc tries them in this order until the tool is small enough. */
const limits: readonly (readonly [input: SchemaLimits, output: SchemaLimits])[] = [
  [
    { depth: 6, nodes: 400 },
    { depth: 5, nodes: 400 },
  ],
  [
    { depth: 6, nodes: 400 },
    { depth: 4, nodes: 150 },
  ],
  [
    { depth: 4, nodes: 200 },
    { depth: 3, nodes: 60 },
  ],
  [
    { depth: 3, nodes: 100 },
    { depth: 2, nodes: 25 },
  ],
  [
    { depth: 2, nodes: 40 },
    { depth: 1, nodes: 10 },
  ],
];

/**
 * Returns the tool that svc makes from an operation of an OpenAPI document. Throws LeftOutError if the operation cannot become a tool.
 * `earlier`: the result of a call with a higher `bytesMax`; schema sizes that were already too large then are not tried again.
 */
export function toolOf(
  context: OperationContext,
  operation: Operation,
  { override, earlier }: { readonly override?: ToolOverride | undefined; readonly earlier?: FittingTool | undefined },
): FittingTool {
  return fittingTool(context.bytesMax, (schemas) => convert(context, operation, { ...schemas, override }), earlier);
}

/** Limits of the two schemas of an imported tool: that of its arguments and that of its result. */
export type ToolSchemaLimits = { readonly input: SchemaLimits; readonly output: SchemaLimits };

/** A tool that is small enough. `bytes`: its size as JSON. `attempt`: index of the limits with which it was made. */
export type FittingTool = { readonly tool: ImportedTool; readonly bytes: number; readonly attempt: number };

/**
 * Makes a tool repeatedly, each time with lower limits for the size of its schemas, until it has at most `bytesMax` bytes. Returns this
 * tool. Throws LeftOutError if even the smallest one is larger. `earlier`: the result of a call with a higher `bytesMax`; the limits that
 * this call tried are not tried again.
 */
export function fittingTool(
  bytesMax: number,
  make: (schemas: ToolSchemaLimits) => ImportedTool,
  earlier?: FittingTool,
): FittingTool {
  if (earlier !== undefined && earlier.bytes <= bytesMax) return earlier;
  const first = earlier === undefined ? 0 : earlier.attempt + 1;
  for (const [index, [input, output]] of limits.slice(first).entries()) {
    const tool = make({ input, output });
    const bytes = Buffer.byteLength(JSON.stringify(tool.document));
    if (bytes <= bytesMax && isJudgeable(tool.document)) return { tool, bytes, attempt: first + index };
  }
  throw new LeftOutError("too_large");
}

type ConvertOptions = ToolSchemaLimits & { readonly override: ToolOverride | undefined };

function convert(context: OperationContext, operation: Operation, options: ConvertOptions): ImportedTool {
  const { root, patterns } = context;
  const { node, method } = operation;
  const cuts = new Map<string, number>();
  const onCut = (reason: string, count = 1) => cuts.set(reason, (cuts.get(reason) ?? 0) + count);
  const shared = { root, patterns, onCut };
  const converter = new SchemaConverter({ ...shared, part: "input", limits: options.input });
  const path = operation.path.slice(context.keyPrefix.length) || "/";
  const { credentials } = context;
  const parameters = parametersOf(root, { ...operation, path }, { converter, credentials, onCut });
  const body =
    method === "GET" ? withoutBody(root, node, onCut) : bodyOf(root, node, { converter, others: parameters, onCut });
  const callbacks = Object.keys(objectOf(node["callbacks"])).length;
  if (callbacks > 0) onCut("callbacks", callbacks);
  const result = resultOf(root, node, new SchemaConverter({ ...shared, part: "output", limits: options.output }));
  const id = typeof node["operationId"] === "string" ? node["operationId"] : "";
  const classed = { method, path: operation.path, id };
  const ruledClass = classOf(classed);
  const access = chosenClass(options.override) ?? ruledClass;
  const input: JsonSchema = {
    type: "object",
    additionalProperties: false,
    properties: { ...parameters.properties, ...body?.properties },
    ...requiredOf([...parameters.required, ...(body?.required ?? [])]),
    ...(body?.dependentRequired !== undefined && { dependentRequired: body.dependentRequired }),
  };
  const { idempotencyHeader } = context;
  const given = idempotencyHeader === "" || access === "read" ? undefined : { header: idempotencyHeader };
  const { unfilledKey } = parameters;
  const idempotency = parameters.idempotency ?? (unfilledKey === undefined ? given : undefined);
  const headers = {
    ...parameters.headers,
    ...body?.headers,
    ...(result.accept !== undefined && { Accept: result.accept }),
  };
  const paging = access === "read" ? pagingOf({ input, output: result.output }) : undefined;
  const scopes = context.scopesOf(operation);
  const description = descriptionOf(operation, options.override);
  if (description.isFlagged && !context.isKnown(operation)) throw new LeftOutError("flagged");
  const document: ActionDocument = {
    kind: "action",
    class: access,
    ...(scopes.length > 0 && { scopes }),
    description: description.text,
    input,
    output: result.output,
    request: {
      method,
      path: parameters.path,
      ...(Object.keys(parameters.query).length > 0 && { query: parameters.query }),
      ...(Object.keys(headers).length > 0 && { headers }),
      ...body?.request,
    },
    ...(idempotency !== undefined && { idempotency }),
    ...(result.response !== undefined && { response: result.response }),
    ...(paging !== undefined && { paging }),
  };
  const suspicious = cuts.get("flagged") ?? 0;
  cuts.delete("flagged");
  const cut = plainText([...cuts].map(([reason, count]) => `${reason} ${count}`).join(", "), 600);
  return {
    document,
    isFlagged: description.isFlagged,
    ruledClass: ruledClass === "read" && mayTakeAway(classed) ? "destructive" : ruledClass,
    suggested: suggestedClass(access, classed),
    notes: [
      ...(paging === undefined ? [] : [{ kind: "paging", detail: JSON.stringify(paging) }]),
      ...(idempotency === undefined ? [] : [{ kind: "idempotency", detail: idempotency.header ?? "" }]),
      ...(unfilledKey === undefined ? [] : [{ kind: "idempotency", detail: unfilledKey }]),
      ...(cut === "" ? [] : [{ kind: "cut", detail: cut }]),
      ...doubts(operation, chosenClass(options.override)),
      ...(suspicious === 0 ? [] : [{ kind: "flagged", detail: `texts of arguments left out: ${suspicious}` }]),
    ],
  };
}

/** Leaves the body of a GET out, which svc does not send. Throws LeftOutError if the body is required. */
function withoutBody(root: DocumentNode, node: DocumentNode, onCut: (reason: string) => void): undefined {
  const body = resolved(root, node["requestBody"]);
  if (body["required"] === true) throw new LeftOutError("body_type");
  if (body["content"] !== undefined) onCut("body of a GET");
}

function suggestedClass(access: AccessClass, operation: Parameters<typeof classOf>[0]): AccessClass | undefined {
  if (access === "write" && mayOnlyRead(operation)) return "read";
  return access === "read" && mayTakeAway(operation) ? "destructive" : undefined;
}

/** Returns a note if a person chose `read` for an operation whose id, path or summary has a verb of taking something away. */
function doubts({ node, path, method }: Operation, chosen: AccessClass | undefined): readonly ToolNote[] {
  if (chosen !== "read" || method === "GET") return [];
  const texts = [node["operationId"], path.split("/").at(-1), node["summary"]].map(textOf);
  const verb = texts.map(destructiveVerbIn).find((found) => found !== undefined);
  return verb === undefined
    ? []
    : [{ kind: "override", detail: `the class is read, and its text has the word ${verb}` }];
}

function requiredOf(names: readonly string[]) {
  return names.length > 0 ? { required: [...new Set(names)] } : {};
}

/** Returns the access class that a person chose for an imported tool; undefined if the person chose none. */
export function chosenClass(override: ToolOverride | undefined): AccessClass | undefined {
  return accessClasses.find((access) => access === override?.class);
}

const [descriptionMin, descriptionMax] = [40, 800];

/** Returns the description of a tool. `isFlagged`: true if it comes from the document and is suspicious. */
function descriptionOf(operation: Operation, override: ToolOverride | undefined): { text: string; isFlagged: boolean } {
  const own = plainText(override?.description ?? "", descriptionMax);
  const { node, method, path } = operation;
  const said = own === "" ? sentencesOf(node) : [ended(own)];
  const whole = said.join(" ") || `${wordsOf(textOf(node["operationId"])).join(" ") || "Calls the app"}.`;
  const long = whole.length >= descriptionMin ? whole : `${whole} Sends ${method} ${plainText(path, 300)} to the app.`;
  // Texts that are harmless alone can give an order together.
  const isSafe = [node["summary"], node["description"], long].every(
    (text) => safeText(text, long.length) !== undefined,
  );
  return { text: long.padEnd(descriptionMin, " ."), isFlagged: own === "" && !isSafe };
}

function sentencesOf({ summary: given, description }: DocumentNode): readonly string[] {
  const summary = plainText(given, 200);
  const text = plainText(description, descriptionMax - summary.length - 2);
  const rest = text.startsWith(summary) ? text.slice(summary.length).replace(/^[. ]+/, "") : text;
  return [summary, rest].filter((sentence) => sentence !== "").map(ended);
}

/** Returns a sentence with a full stop at its end. */
export function ended(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

function isJudgeable({ input, output }: ActionDocument): boolean {
  return schemaSize(input) <= schemaSizeMax && schemaSize(withNulls(output)) <= schemaSizeMax;
}
