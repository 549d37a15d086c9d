import { setImmediate } from "node:timers/promises";
import {
  createSlices,
  formatValue,
  isObject,
  JsonTooLargeError,
  type ProjectId,
  parseExactJson,
  parseJsonInTurns,
  replaceRawNumbers,
  type Slices,
} from "@svc/core";
import { faultOfBaseUrl } from "../build/base-url.ts";
import { buildInSteps } from "../build/build.ts";
import { checkInSteps } from "../check/check-definitions.ts";
import { checkMcpAddress } from "../check/check-mcp.ts";
import { checkShape } from "../check/check-shape.ts";
import { checkWebhook } from "../check/check-webhook.ts";
import { checkNames } from "../check/known-names.ts";
import type { Toolkit } from "../model.ts";
import { createDefinitionFile, DefinitionError, type DefinitionFile, inexactCure } from "../read/definition-file.ts";
import type { JsonSchema, ToolDocument, ToolkitDocument } from "../read/documents.ts";
import type { ToolkitFiles } from "../read/read-definitions.ts";
import { createTenantValidators } from "../schema/json-schema.ts";
import { patternSize } from "../schema/linear-reg-exp.ts";
import { checkSchemaSizes, checkTenantDefinition, checkTenantSize } from "./check-tenant.ts";
import { checkTriggerCount } from "./check-tenant-webhook.ts";
import { toolkitLimits } from "./toolkit-limits.ts";

const { bytes: bytesMax, tools: toolsMax, patternSteps: sizeMax, patternLength: lengthMax } = toolkitLimits;

/**
 * Records an error if the regular expressions of the files would take too long to compile, before any is compiled. Equal expressions count
 * once. The error goes to the file that exceeds the limit.
 */
export function checkPatternCost(files: readonly DefinitionFile[]): void {
  for (const _ of checkPatternsInSteps(files));
}

/** Checks the size of all regular expressions in the files. Yields after each file. */
function* checkPatternsInSteps(files: readonly DefinitionFile[]): Generator<void> {
  const seen = new Set<string>();
  let total = 0;
  for (const file of files) {
    for (const pattern of patternsOf(file.value)) {
      if (seen.has(pattern)) continue;
      seen.add(pattern);
      total += pattern.length > lengthMax ? sizeMax + 1 : patternSize(pattern);
      if (total > sizeMax) break;
    }
    yield;
    if (total <= sizeMax) continue;
    const reason = `brings the definition's patterns to more than ${sizeMax} steps, or has one of more than ${lengthMax} characters`;
    file.fault([], reason, "shorten them or their repetitions: x{100} is a hundred steps");
    return;
  }
}

/** Yields every text that may be compiled as a regular expression. */
function* patternsOf(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    if (key === "pattern" && typeof child === "string") yield child;
    if (key === "patternProperties" && typeof child === "object" && child !== null) yield* Object.keys(child);
    yield* patternsOf(child);
  }
}

/**
 * Duration of a slice of the work on a definition, in milliseconds. The work takes a tenth of a second for 1,500 tools, and with longer
 * slices each call of another project would wait several times for them.
 */
const definitionSliceMs = 0.5;

/**
 * Returns an object that splits long work on a private toolkit's definition into slices of half a millisecond. Between two slices, other
 * work of the node can run.
 */
export function createDefinitionSlices(): Slices {
  return createSlices(setImmediate, { ms: definitionSliceMs });
}

/**
 * Returns the compiled toolkit (an app's tools and webhooks) that a project publishes. `definitionJson`: the JSON text `{"toolkit": {…},
 * "tools": {"<tool>": {…}}}`. Rejects with DefinitionError; its errors name each part like a file: `toolkit` or `tools.<tool>`. Between the
 * checks of two parts, other work of the node can run.
 */
export async function parsePrivateToolkit(definitionJson: string, ownerProjectId: ProjectId): Promise<Toolkit> {
  return build(
    await checkPrivateToolkit(definitionJson),
    { ownerProjectId, isImported: false },
    createDefinitionSlices(),
  );
}

/**
 * Does the checks of `parsePrivateToolkit`, and returns the parts of the definition as files. Rejects with DefinitionError if a check
 * fails.
 */
export async function checkPrivateToolkit(definitionJson: string): Promise<ToolkitFiles> {
  const files = await readFiles(definitionJson);
  for (const _ of checkInSteps(files)) await setImmediate();
  checkTriggerCount(files.toolkit, files.tools.values());
  for (const file of filesOf(files)) {
    checkTenantDefinition(file, webhookOf(files));
    await setImmediate();
  }
  throwFaults(files);
  const checkCompiled = createCompileCheck();
  for (const file of files.tools.values()) {
    checkCompiled(file);
    await setImmediate();
  }
  throwFaults(files);
  return files;
}

/**
 * Returns the compiled toolkit (an app's tools and webhooks) of a stored definition that passed parsePrivateToolkit when it was published.
 * Repeats only the cheap checks: form, request addresses and request content. Rejects with DefinitionError. `slices`: pauses the work
 * between two tools, so that other work of the node can run.
 */
export async function parseKeptToolkit(
  definitionJson: string,
  owner: ToolkitOwner,
  slices: Pick<Slices, "rest"> = createDefinitionSlices(),
): Promise<Toolkit> {
  const files = await readFiles(definitionJson, slices);
  for (const _ of checkKept(files)) await slices.rest();
  throwFaults(files);
  return build(files, owner, slices);
}

/**
 * Checks only the sizes of a definition and of its regular expressions, which is cheap. Rejects with DefinitionError if they are too large.
 * Call this first, so that no thread is started for the other checks of such a definition.
 */
export async function checkDefinitionSize(definitionJson: string): Promise<void> {
  await readFiles(definitionJson);
}

/**
 * Returns the compiled toolkit (an app's tools and webhooks) of a definition that `checkPrivateToolkit` has just accepted, for example in
 * the thread of imports. Checks nothing. Pauses between two tools, so that other work of the node can run.
 */
export async function buildCheckedToolkit(definitionJson: string, owner: ToolkitOwner): Promise<Toolkit> {
  return build(filesOfDocument(await parseJson(definitionJson)), owner, createDefinitionSlices());
}

/**
 * The project that published a private toolkit. `isImported`: true if the toolkit was imported from a document or a server of the app. Its
 * calls then go to the app, not to the sandbox.
 */
export type ToolkitOwner = { readonly ownerProjectId: ProjectId; readonly isImported: boolean };

async function build(
  files: ToolkitFiles,
  { ownerProjectId, isImported }: ToolkitOwner,
  slices: Pick<Slices, "rest">,
): Promise<Toolkit> {
  const documents = {
    toolkit: files.toolkit.value as ToolkitDocument,
    tools: new Map([...files.tools].map(([name, file]) => [name, file.value as ToolDocument])),
  };
  const bindings = {
    values: {},
    audience: "accounts",
    ownerProjectId,
    isLive: isImported || documents.toolkit.live === true,
    validators: createTenantValidators(),
  } as const;
  const steps = buildInSteps(documents, bindings);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await slices.rest();
  }
}

/**
 * Checks a stored definition of a private toolkit (an app's tools, published by one project) in steps. Between two steps, the node can do
 * other work.
 */
function* checkKept({ toolkit, tools }: ToolkitFiles): Generator<void> {
  const document = checkShape<ToolkitDocument>(toolkit, "toolkit");
  const fault = document?.baseUrl === undefined ? undefined : faultOfBaseUrl(document.baseUrl);
  if (fault !== undefined) toolkit.fault(["baseUrl"], ...fault);
  checkNames(toolkit, ["always"], document?.always);
  if (document?.mcp !== undefined) checkMcpAddress(toolkit, document.mcp.url);
  if (document?.webhook !== undefined) checkWebhook(toolkit, document.webhook);
  for (const file of tools.values()) {
    const tool = checkShape<ToolDocument>(file, "tool");
    checkSchemaSizes(file);
    if (tool?.kind === "action") checkNames(file, ["request"], tool.request);
    yield;
  }
}

/** Maximum characters of a definition's JSON text that svc parses in one go. It parses a longer text in slices. */
const smallMax = 16_384;

/**
 * Maximum number of JSON numbers in a definition that a double cannot hold exactly. If there are more, parsing stops. If there are fewer,
 * the definition is still refused, and the error names the first of them.
 */
const rawMax = 10;

/**
 * Splits a private toolkit's definition into files, and checks their sizes and regular expressions. Rejects with DefinitionError if a check
 * fails. Pauses between the files for other work of the node.
 */
async function readFiles(
  definitionJson: string,
  slices: Pick<Slices, "rest"> = createDefinitionSlices(),
): Promise<ToolkitFiles> {
  const size = Buffer.byteLength(definitionJson);
  if (size > bytesMax) throw wholeFault(`has ${size} bytes`, `shorten it to ${bytesMax}`);
  const files = filesOfDocument(await parseJson(definitionJson));
  for (const file of filesOf(files)) {
    refuseInexact(file.value);
    checkTenantSize(file);
    await slices.rest();
  }
  throwFaults(files);
  for (const _ of checkPatternsInSteps(filesOf(files))) await slices.rest();
  throwFaults(files);
  return files;
}

function filesOfDocument(document: unknown): ToolkitFiles {
  const whole = createDefinitionFile("definition", document);
  if (!isObject(document) || !isObject(document.toolkit) || !isObject(document.tools)) {
    whole.fault([], "is not an object with toolkit and tools", 'write {"toolkit": {…}, "tools": {"<tool>": {…}}}');
    throw new DefinitionError(whole.faults);
  }
  for (const key of Object.keys(document)) {
    if (key !== "toolkit" && key !== "tools") whole.fault([key], "is not known here", "use toolkit and tools");
  }
  const tools = Object.entries(document.tools);
  if (tools.length > toolsMax) {
    whole.fault(["tools"], `has ${tools.length} tools`, `split it: a private toolkit has at most ${toolsMax}`);
  }
  if (whole.faults.length > 0) throw new DefinitionError(whole.faults);
  return {
    folder: String(document.toolkit.slug ?? ""),
    toolkit: createDefinitionFile("toolkit", document.toolkit),
    tools: new Map(tools.map(([name, tool]) => [name, createDefinitionFile(`tools.${name.toWellFormed()}`, tool)])),
  };
}

/** Throws DefinitionError if a value contains a number that a double cannot represent. */
function refuseInexact(value: unknown): void {
  replaceRawNumbers(value, (raw) => {
    throw wholeFault(
      `has the number ${formatValue(JSON.stringify(raw))}, which a double cannot represent`,
      inexactCure,
    );
  });
}

async function parseJson(text: string): Promise<unknown> {
  // The depth has no limit here, because later checks report excessive nesting for each file.
  const bounds = { values: bytesMax, members: bytesMax, raw: rawMax, digits: bytesMax };
  try {
    if (text.length <= smallMax) return parseExactJson(text, { depthMax: Number.POSITIVE_INFINITY });
    return await parseJsonInTurns(text, { bounds, turn: setImmediate, ms: definitionSliceMs });
  } catch (error) {
    if (error instanceof JsonTooLargeError) throw wholeFault(`has more than ${rawMax} inexact numbers`, inexactCure);
    throw wholeFault(`is not JSON (${(error as SyntaxError).message})`, "send JSON text");
  }
}

function wholeFault(reason: string, cure: string): DefinitionError {
  return new DefinitionError([{ file: "definition", path: "", reason, cure }]);
}

/** Returns the `webhook` part of a toolkit's definition, unchecked. Returns undefined if the toolkit's definition has none. */
function webhookOf({ toolkit: { value } }: ToolkitFiles): unknown {
  return isObject(value) ? value["webhook"] : undefined;
}

function filesOf({ toolkit, tools }: ToolkitFiles): DefinitionFile[] {
  return [toolkit, ...tools.values()];
}

function throwFaults(files: ToolkitFiles): void {
  const found = filesOf(files).flatMap(({ faults }) => faults);
  if (found.length > 0) throw new DefinitionError(found);
}

/** Records errors that only the compiler of schemas finds, such as `then` without `if`, so that they are found before the first call. */
export function checkCompiles(file: DefinitionFile): void {
  createCompileCheck()(file);
}

/** Number of schemas that one compiler compiles. A compiler takes a millisecond to create, and keeps the code of all its schemas. */
const schemasPerCompiler = 50;

/** Returns `checkCompiles` for many files. Compiles equal schemas once, because tools of an app often return the same. */
function createCompileCheck(): typeof checkCompiles {
  const good = new Set<string>();
  let createValidator = createTenantValidators();
  const compile = (schema: JsonSchema): void => {
    const text = JSON.stringify(schema);
    if (good.has(text)) return;
    if (good.size % schemasPerCompiler === 0) createValidator = createTenantValidators();
    createValidator(schema)({});
    good.add(text);
  };
  return (file) => checkCompiledBy(compile, file);
}

function checkCompiledBy(compile: (schema: JsonSchema) => void, file: DefinitionFile): void {
  const document = isObject(file.value) ? file.value : {};
  for (const part of ["input", "output"]) {
    const schema = document[part];
    if (!isObject(schema)) continue;
    try {
      compile(schema);
    } catch (error) {
      const reason = `is not a schema that can be used (${error instanceof Error ? error.message.slice(0, 200) : error})`;
      file.fault([part], reason, "write it as JSON Schema 2020-12");
    }
  }
}
