import type { Placeholder } from "@svc/core";
import { checkTemplates, deploymentNamespace, type Namespaces } from "./check-placeholders.ts";
import { checkSchema } from "./check-schema.ts";
import type { FaultPath } from "./definition-error.ts";
import type { DefinitionFile } from "./definition-file.ts";
import type { ActionDocument, JsonSchema } from "./documents.ts";
import { isJsonObject } from "./json-schema.ts";

/**
 * The rules of an action that its schema cannot say, for the parts that have their shape. `account` holds the toolkit's
 * variables. Records every fault.
 */
export function checkAction(
  file: DefinitionFile,
  document: Partial<ActionDocument>,
  account: Namespaces[string],
): void {
  const { input, output, request } = document;
  const declared = input === undefined ? undefined : declaredArguments(input);
  if (declared !== undefined) checkInput(file, declared, document);
  if (output !== undefined) checkSchema(file, ["output"], output, false);
  if (request !== undefined) {
    checkMethod(file, document);
    const params = declared === undefined ? "any" : new Set(declared.keys());
    const { placeholders } = checkTemplates(file, ["request"], request, {
      params,
      account,
      deployment: deploymentNamespace,
    });
    if (declared !== undefined) checkPlaces(file, declared, placeholders);
  }
  checkResponse(file, document);
  checkIdempotency(file, document, declared);
}

type Argument = { readonly schema: JsonSchema; readonly isRequired: boolean };
type Arguments = ReadonlyMap<string, Argument>;

function declaredArguments(input: JsonSchema): Arguments {
  const properties = isJsonObject(input.properties) ? input.properties : {};
  const required = new Set(Array.isArray(input.required) ? input.required : []);
  return new Map(
    Object.entries(properties).map(([name, schema]) => {
      return [name, { schema: isJsonObject(schema) ? schema : {}, isRequired: required.has(name) }];
    }),
  );
}

function checkInput(file: DefinitionFile, declared: Arguments, { input = {}, class: access }: Partial<ActionDocument>) {
  if (input.type !== "object") {
    file.fault(["input", "type"], "is not object", "write type: object: arguments have names");
  }
  if (input.additionalProperties !== false) {
    const cure = "write additionalProperties: false, so that unknown arguments are refused";
    file.fault(["input", "additionalProperties"], "is not false", cure);
  }
  if (declared.has("confirm") && access === "destructive") {
    file.fault(["input", "properties", "confirm"], "is added at load", "remove it: every destructive tool gets it");
  }
  checkSchema(file, ["input"], input, true);
}

function checkMethod(file: DefinitionFile, { request, class: access }: Partial<ActionDocument>): void {
  if (request?.method === "DELETE" && access === "read") {
    file.fault(["class"], "is read, and the call is a DELETE", "write destructive (or write, when nothing is lost)");
  }
  if (request?.method === "GET" && request.body !== undefined) {
    file.fault(["request", "body"], "stands in a GET", "move it to query, or change the method");
  }
}

/** Holds the arguments and their places in the request together. */
function checkPlaces(
  file: DefinitionFile,
  declared: Arguments,
  placeholders: readonly (readonly [Placeholder, FaultPath])[],
): void {
  const placed = new Set<string>();
  for (const [{ root, path: steps, text }, path] of placeholders) {
    if (root !== "params") continue;
    const name = String(steps[0]);
    placed.add(name);
    const argument = declared.get(name);
    if (path[1] !== "path" || argument === undefined) continue;
    if (!argument.isRequired && argument.schema.default === undefined) {
      const cure = `make ${name} required, or give it a default`;
      file.fault(path, `{{${text}}} is optional, and a path cannot go without it`, cure);
    }
    if (!["string", "integer", "number"].includes(String(argument.schema.type))) {
      file.fault(path, `{{${text}}} is not a string or number`, "a path segment is one text or number");
    }
  }
  for (const [name, argument] of declared) {
    if (!placed.has(name)) checkUnplaced(file, name, argument);
  }
}

/** An argument may stay out of the request only when it fills a label of the host that a deployment declares. */
function checkUnplaced(file: DefinitionFile, name: string, { schema, isRequired }: Argument): void {
  const path = ["input", "properties", name];
  if (schema["x-host"] === true) {
    if (typeof schema.pattern === "string") return;
    file.fault(path, "fills a host label and has no pattern", "add a pattern of DNS labels");
  } else if (isRequired) {
    const cure = `place {{params.${name}}} in path, query, headers or body`;
    file.fault(path, "is required, and no part of the request carries it", cure);
  } else {
    file.fault(path, "is accepted, and dropped by the request", `place {{params.${name}}}, or remove the argument`);
  }
}

function checkResponse(file: DefinitionFile, { response, output }: Partial<ActionDocument>): void {
  if (!isJsonObject(response?.empty) || !isJsonObject(output?.properties)) return;
  for (const key of Object.keys(response.empty)) {
    if (Object.hasOwn(output.properties, key)) continue;
    file.fault(["response", "empty", key], "is not a property of output", "declare it there, or trimming drops it");
  }
}

function checkIdempotency(
  file: DefinitionFile,
  { idempotency }: Partial<ActionDocument>,
  declared: Arguments | undefined,
): void {
  const { argument, header } = idempotency ?? {};
  if (argument !== undefined && header !== undefined) {
    file.fault(["idempotency"], "has both argument and header", "keep the one that the app reads");
  }
  if (argument !== undefined && declared?.has(argument) === false) {
    file.fault(["idempotency", "argument"], `"${argument}" is not an argument`, "name one of input.properties");
  }
}
