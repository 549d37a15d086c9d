import { isObject, type Placeholder } from "@svc/core";
import { matchesEverything } from "../build/match.ts";
import type { DefinitionFile, FaultPath } from "../read/definition-file.ts";
import type {
  ActionDocument,
  BodyDocument,
  JsonSchema,
  ToolDocument,
  ToolkitDocument,
  TriggerDocument,
  WebhookDocument,
} from "../read/documents.ts";
import type { ToolkitFiles } from "../read/read-definitions.ts";
import { checkAction } from "./check-action.ts";
import { checkAddresses, checkRequestKind } from "./check-mcp.ts";
import { checkTemplates, faultOfOutputPath, type Namespaces } from "./check-response.ts";
import { checkSchema } from "./check-schema.ts";
import { checkShape } from "./check-shape.ts";
import { accountNames, checkToolkit, declares } from "./check-toolkit.ts";
import { checkMatch, secretPlaces } from "./check-webhook.ts";
import { isSlug } from "./known-names.ts";

/**
 * Returns the first words that placeholders in a trigger's templates may have, such as `headers` in `{{headers.x-id}}`. `body` and `item`
 * are allowed only if the app's webhook provides them.
 */
function namespacesOf({ each, content }: BodyDocument = {}): Namespaces {
  return {
    ...{ headers: "any", query: "any" },
    ...(content !== "none" && { body: "any" }),
    ...(each !== undefined && { item: "any" }),
  };
}

/**
 * Checks the rules for a trigger that the JSON Schema of trigger files cannot express. Only the well-formed parts of the file are checked.
 * Records every error in `file`.
 */
function checkTrigger(
  file: DefinitionFile,
  document: Partial<TriggerDocument>,
  webhook: WebhookDocument | undefined,
): void {
  const { output, payload } = document;
  if (output !== undefined) {
    if (output.type !== "object") {
      file.fault(["output", "type"], "is not object", "write type: object: a payload is one");
    }
    checkSchema(file, ["output"], output, "output");
  }
  const namespaces = namespacesOf(webhook);
  if (document.match !== undefined) checkMatch(file, ["match"], document.match, webhook);
  for (const key of ["account", "entity", "dedupe", "occurredAt", "payload"] as const) {
    const { placeholders } = checkTemplates(file, [key], document[key] ?? "", namespaces);
    for (const [placeholder, at] of placeholders) {
      const { root, path, text } = placeholder;
      const name = String(path[0]);
      checkBodyPlace(file, at, placeholder, webhook);
      if (root === "headers" && name !== name.toLowerCase()) {
        file.fault(
          at,
          `{{${text}}} has capitals, and header names are compared in lower case`,
          "write it in lower case",
        );
      }
      if (secretPlaces(webhook).some((place) => place.root === root && place.name === path.join("."))) {
        file.fault(at, `{{${text}}} is the webhook's secret`, "take another value: the secret stays out of events");
      }
    }
  }
  if (payload !== undefined && output !== undefined) comparePayload(file, ["payload"], payload, output);
}

/**
 * Checks a placeholder such as `{{body.id}}`, which takes a field of a webhook post's body. Records an error if the field cannot be read.
 * Also records an error if the field contains the list of all events in the post.
 */
function checkBodyPlace(
  file: DefinitionFile,
  at: FaultPath,
  { root, path, text }: Placeholder,
  { each, content }: BodyDocument = {},
): void {
  if (root !== "body") return;
  if (path.length > 0 && content !== undefined && content !== "none") {
    file.fault(at, `{{${text}}} is inside a text, because webhook.content is ${content}`, "write {{body}}");
  }
  const list = each?.split(".").slice(1);
  if (list !== undefined && path.length <= list.length && path.every((step, index) => step === list[index])) {
    file.fault(
      at,
      `{{${text}}} contains every element of ${each}`,
      "write {{item}}, or name another field of the body",
    );
  }
}

/**
 * Compares the field names of a payload with the properties of the output schema, at all levels that both declare. Adds an error to `file`
 * for each difference.
 */
function comparePayload(file: DefinitionFile, path: FaultPath, payload: object, output: JsonSchema): void {
  const properties = isObject(output.properties) ? output.properties : undefined;
  if (properties === undefined) return;
  for (const [key, value] of Object.entries(payload)) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property === undefined) {
      file.fault(
        [...path, key],
        "is not a property of output",
        `declare it there, or use one of ${Object.keys(properties).join(", ")}`,
      );
    } else if (isObject(value) && isObject(property)) {
      comparePayload(file, [...path, key], value, property);
    }
  }
  for (const key of Object.keys(properties)) {
    if (Object.hasOwn(payload, key)) continue;
    const required = Array.isArray(output.required) && output.required.includes(key);
    const reason = required ? "is required by output, and missing" : "is declared by output, and never filled";
    file.fault([...path, key], reason, "add it here, or remove it from output");
  }
}

/**
 * Maximum number of example phrases per tool. It is enough for the words of several professions. A phrase may contain alternatives, such as
 * `(call|ring)`; the search index contains each of them.
 */
const sayingsMax = 60;
const lengthMax = 400;
/**
 * True if an example phrase has no choices, or only choices such as `(call|ring)` that contain no other choices. False if a choice is not
 * complete, for example without its closing bracket.
 */
export function isPhraseForm(phrase: string): boolean {
  return /^(?:[^()|]|\([^()]*\))*$/.test(phrase);
}

/** Checks that sayings.yaml names tools of the toolkit (one app's tools), and that every example phrase is well formed. */
export function checkExamplePhrases({ sayings: file, tools }: ToolkitFiles): void {
  if (file === undefined || file.faults.length > 0) return;
  if (!isObject(file.value)) {
    file.fault([], "is not a map of tools", "list example phrases under the name of each tool");
    return;
  }
  for (const [name, sayings] of Object.entries(file.value)) {
    if (!tools.has(name))
      file.fault([name], `"${name}" is not a tool of the toolkit`, "name one that it has, or remove it");
    if (!Array.isArray(sayings) || sayings.length === 0 || sayings.length > sayingsMax) {
      file.fault([name], "is not a list of example phrases", `list 1 to ${sayingsMax}`);
      continue;
    }
    for (const [index, saying] of sayings.entries()) {
      if (typeof saying === "string" && saying.length <= lengthMax && isPhraseForm(saying)) continue;
      const cure = `write up to ${lengthMax} characters, with choices such as (call|ring|) that hold no others`;
      file.fault([name, index], "is not an example phrase", cure);
    }
  }
}

/** The well-formed parts of a file that defines an action or a trigger. Malformed parts are absent. */
type ToolParts = Partial<ActionDocument> | Partial<TriggerDocument>;

/** Checks the files of one toolkit (an app's tools and webhooks), individually and together. Errors are recorded with their file. */
export function checkDefinitions(files: ToolkitFiles): void {
  for (const _ of checkInSteps(files));
  checkShared(files);
}

/** Checks that the list in which a question of `binding` places its answer has the place. */
function checkQuestions({ toolkit }: ToolkitFiles): void {
  const { binding = [], auth = [] } = toolkit.value as Partial<ToolkitDocument>;
  for (const [index, { path }] of binding.entries()) {
    const [, place] = /^auth\[(\d)\]/.exec(path) ?? [];
    const scheme = place === undefined ? undefined : auth[Number(place)];
    if (place !== undefined && (scheme?.type !== "api_key" || scheme.placement === "path"))
      toolkit.fault(["binding", index, "path"], "names no api_key scheme with a name", "name the index of one in auth");
  }
}

/** Checks the rules that apply only to shared toolkits, and not to private toolkits (those that a project published for itself). */
function checkShared(files: ToolkitFiles): void {
  const { toolkit, tools } = files;
  if (toolkit.faults.length === 0) checkQuestions(files);
  const webhook = isObject(toolkit.value) ? toolkit.value["webhook"] : undefined;
  if (toolkit.faults.length === 0 && isObject(webhook) && !Object.hasOwn(webhook, "secretEnv")) {
    const cure =
      "add it: an environment variable whose name starts with SVC_WEBHOOK_SECRET_, in capitals, digits and _";
    toolkit.fault(["webhook", "secretEnv"], "is missing", cure);
  }
  if (isObject(toolkit.value) && Object.hasOwn(toolkit.value, "live")) {
    const cure = "remove it: the deployment file binds a shared toolkit to its app";
    toolkit.fault(["live"], "is in a shared definition", cure);
  }
  if (isObject(toolkit.value) && Object.hasOwn(toolkit.value, "mcp")) {
    const cure = "remove it: projects connect MCP servers for themselves, as private toolkits";
    toolkit.fault(["mcp"], "is in a shared definition", cure);
  }
  const auth = isObject(toolkit.value) && Array.isArray(toolkit.value["auth"]) ? toolkit.value["auth"] : [];
  for (const [index, scheme] of auth.entries()) {
    if (isObject(scheme) && Object.hasOwn(scheme, "clientId"))
      toolkit.fault(
        ["auth", index, "clientId"],
        "is in a shared definition",
        "set toolkits.<slug>.oauth in the deployment file",
      );
  }
  for (const file of tools.values()) {
    const isTool = isObject(file.value) && (file.value["kind"] === "action" || file.value["kind"] === "trigger");
    if (isTool && !declares(file, "intents"))
      file.fault(["intents"], "is missing", "add it: 3 to 6 short phrases as people ask for it");
    if (isObject(file.value) && Object.hasOwn(file.value, "entity"))
      file.fault(
        ["entity"],
        "is in a shared definition",
        "write account: accounts decide which project receives a post",
      );
  }
}

/**
 * Checks the files of one toolkit (an app's tools and webhooks), in steps of about one tool each. Yields between two steps, so that the
 * caller may run other work. Errors are recorded with their file.
 */
export function* checkInSteps(files: ToolkitFiles): Generator<void> {
  const { folder, toolkit: file, tools } = files;
  const isRead = file.faults.length === 0;
  const toolkit = isRead ? checkShape<ToolkitDocument>(file, "toolkit") : undefined;
  if (toolkit !== undefined) {
    checkToolkit(file, toolkit, folder);
    checkAddresses(file, toolkit);
  }
  const account = toolkit === undefined ? "any" : accountNames(file, toolkit);
  const parts = new Map<string, ToolParts>();
  for (const name of tools.keys()) {
    const tool = checkToolFile({ tools, name, account, webhook: toolkit?.webhook });
    if (tool !== undefined) parts.set(name, tool);
    yield;
  }
  if (toolkit !== undefined) checkTogether({ file, toolkit, tools, parts });
  checkExamplePhrases(files);
}

function checkToolFile(options: {
  tools: ToolkitFiles["tools"];
  name: string;
  account: Namespaces[string];
  webhook: ToolkitDocument["webhook"];
}): ToolParts | undefined {
  const { tools, name, account, webhook } = options;
  const file = tools.get(name);
  if (file === undefined || file.faults.length > 0) return undefined;
  const tool = checkShape<ToolDocument>(file, "tool");
  if (tool === undefined) return undefined;
  checkTool(file, tool, name);
  if (tool.kind === "action") {
    checkAction(file, tool, account);
    checkRequestKind(file, tool);
  }
  if (tool.kind === "trigger") checkTrigger(file, tool, webhook);
  return tool;
}

type CheckedTogether = {
  readonly file: ToolkitFiles["toolkit"];
  readonly toolkit: Partial<ToolkitDocument>;
  readonly tools: ToolkitFiles["tools"];
  readonly parts: ReadonlyMap<string, ToolParts>;
};

/** Checks the replacements of deprecated tools. The replacement of a tool must be a callable tool of the same app and not deprecated. */
function checkReplacements({ tools, parts }: Pick<CheckedTogether, "tools" | "parts">): void {
  for (const [name, tool] of parts) {
    if (tool.kind !== "action" || tool.replacedBy === undefined) continue;
    const other = parts.get(tool.replacedBy);
    const isUsable = other?.kind === "action" && other.callable !== false && other.replacedBy === undefined;
    if (isUsable) continue;
    const reason = `"${tool.replacedBy}" is not an action of the toolkit that can be called and is not deprecated`;
    tools.get(name)?.fault(["replacedBy"], reason, "name one that is, or remove it");
  }
}

function checkTogether({ file, toolkit, tools, parts }: CheckedTogether): void {
  // A toolkit of an MCP server may have no tool: the server lists its tools only to a connected account.
  if (tools.size === 0 && toolkit.mcp === undefined) {
    file.fault([], "the toolkit has no tool", "add tools/<tool>.yaml");
  }
  checkKinds({ file, toolkit, tools, parts });
  const triggers = [...parts].filter(([, tool]) => tool.kind === "trigger");
  const [first] = triggers;
  if (first !== undefined && !declares(file, "webhook")) {
    file.fault(["webhook"], `is missing, and "${first[0]}" is a trigger`, "declare how its posts are verified");
  }
  for (const [name, tool] of triggers) {
    const isGreedy = tool.kind === "trigger" && tool.match !== undefined && matchesEverything(tool.match);
    if (!isGreedy || triggers.length === 1) continue;
    const reason = "matches every post, and the toolkit has other triggers";
    tools.get(name)?.fault(["match"], reason, "name what distinguishes its posts");
  }
  checkDescriptions({ tools, parts });
  checkReplacements({ tools, parts });
  checkIdentify({ file, toolkit, tools, parts });
}

/** Checks that the actions of a toolkit call its MCP server exactly if the toolkit has one. Records an error for each that does not. */
function checkKinds({ toolkit, tools, parts }: CheckedTogether): void {
  const isMcp = toolkit.mcp !== undefined;
  for (const [name, tool] of parts) {
    if (tool.kind !== "action") continue;
    if (isMcp && tool.request !== undefined)
      tools.get(name)?.fault(["request"], "is in a toolkit with an MCP server", "write mcp in place of it");
    if (!isMcp && tool.mcp !== undefined)
      tools.get(name)?.fault(["mcp"], "is in a toolkit without an MCP server", "write request in place of it");
  }
}

/** Checks that all descriptions are different, because models choose tools by their description. */
function checkDescriptions({ tools, parts }: Pick<CheckedTogether, "tools" | "parts">): void {
  const first = new Map<string, string>();
  for (const [name, { description }] of parts) {
    if (description === undefined) continue;
    const words = description.trim().replaceAll(/\s+/g, " ").toLowerCase();
    const other = first.get(words);
    if (other === undefined) first.set(words, name);
    else tools.get(name)?.fault(["description"], `is the same as that of ${other}`, "say how the two differ");
  }
}

function checkIdentify({ file, toolkit, tools, parts }: CheckedTogether): void {
  if (toolkit.identify === undefined) return;
  const { tool: name, path } = toolkit.identify;
  const tool = parts.get(name);
  if (!tools.has(name)) {
    file.fault(["identify", "tool"], `"${name}" is not a tool of the toolkit`, "name one of its read actions");
  } else if (tool?.kind === "trigger" || (tool?.kind === "action" && (tool.class ?? "read") !== "read")) {
    file.fault(["identify", "tool"], `"${name}" is not a read action`, "name one: connecting changes nothing");
  } else if (tool?.kind === "action") {
    if (Array.isArray(tool.input?.required) && tool.input.required.length > 0) {
      const cure = "name one that takes none: connecting has nothing to fill in";
      file.fault(["identify", "tool"], `"${name}" requires arguments`, cure);
    }
    const fault = tool.output === undefined ? undefined : faultOfOutputPath(tool.output, path);
    if (fault !== undefined)
      file.fault(["identify", "path"], `"${path}" ${fault}`, `name a text or number of ${name}'s output`);
  }
}

/**
 * Checks the rules that apply to both kinds of tools: actions (requests to the app) and triggers (kinds of events). Records every error.
 */
function checkTool(file: DefinitionFile, document: Partial<ToolDocument>, name: string): void {
  if (!isSlug(name)) {
    file.fault(
      [],
      `"${name}" is not a tool name`,
      "name the file in lower-case words joined by _, at most 60 characters",
    );
  }
  checkTemplates(file, ["scopes"], document.scopes ?? [], { deployment: new Set(["scope_base"]) });
  const words = toWords(name);
  document.intents?.forEach((intent, index) => {
    // True if the example phrase names the tool. A one-word name, such as "search", is also an ordinary word, so it must be the whole
    // phrase. Of a longer name, all words in sequence are enough.
    const namesTool = words.trim().includes(" ") ? toWords(intent).includes(words) : toWords(intent) === words;
    if (namesTool) file.fault(["intents", index], `"${intent}" names the tool`, "say it as people ask for it");
  });
}

function toWords(text: string): string {
  const words = text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return ` ${words.join(" ")} `;
}
