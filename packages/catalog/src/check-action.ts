import type { Placeholder } from "@svc/core";
import { checkTemplates, deploymentNamespace } from "./check-placeholders.ts";
import { checkSchema } from "./check-schema.ts";
import type { FaultPath } from "./definition-error.ts";
import type { DefinitionFile } from "./definition-file.ts";
import type { ActionDocument, JsonSchema } from "./documents.ts";
import { isJsonObject } from "./json-schema.ts";

/** The rules of an action that its schema cannot say. `account` holds the toolkit's variables. Records every fault. */
export function checkAction(file: DefinitionFile, document: ActionDocument, account: ReadonlySet<string>): void {
  checkInput(file, document);
  checkSchema(file, ["output"], document.output, false);
  checkRequest(file, document, account);
  checkResponse(file, document);
  checkIdempotency(file, document);
}

/** Every declared argument by name. */
function argumentsOf(document: ActionDocument): Map<string, JsonSchema> {
  const properties = isJsonObject(document.input.properties) ? document.input.properties : {};
  return new Map(Object.entries(properties).map(([name, schema]) => [name, isJsonObject(schema) ? schema : {}]));
}

function isRequired(document: ActionDocument, argument: string): boolean {
  return Array.isArray(document.input.required) && document.input.required.includes(argument);
}

function checkInput(file: DefinitionFile, document: ActionDocument): void {
  const { input } = document;
  if (input.type !== "object")
    file.fault(["input", "type"], "is not object", "write type: object: arguments have names");
  if (input.additionalProperties !== false) {
    file.fault(
      ["input", "additionalProperties"],
      "is not false",
      "write additionalProperties: false, so that unknown arguments are refused",
    );
  }
  if (argumentsOf(document).has("confirm") && document.class === "destructive") {
    file.fault(["input", "properties", "confirm"], "is added at load", "remove it: every destructive tool gets it");
  }
  checkSchema(file, ["input"], input, true);
}

function checkRequest(file: DefinitionFile, document: ActionDocument, account: ReadonlySet<string>): void {
  const { request } = document;
  const declared = argumentsOf(document);
  if (request.method === "DELETE" && document.class === "read") {
    file.fault(["class"], "is read, and the call is a DELETE", "write destructive (or write, when nothing is lost)");
  }
  if (request.method === "GET" && request.body !== undefined) {
    file.fault(["request", "body"], "stands in a GET", "move it to query, or change the method");
  }
  const namespaces = { params: new Set(declared.keys()), account, deployment: deploymentNamespace };
  const { placeholders } = checkTemplates(file, ["request"], request, namespaces);
  for (const [placeholder, path] of placeholders) {
    if (path[1] === "path") checkPathPlaceholder(file, path, placeholder, document);
  }
  const placed = new Set(placeholders.filter(([{ root }]) => root === "params").map(([{ path }]) => path[0]));
  for (const [name, schema] of declared) {
    if (!placed.has(name)) checkUnplaced(file, document, name, schema);
  }
}

function checkPathPlaceholder(
  file: DefinitionFile,
  path: FaultPath,
  { root, path: steps, text }: Placeholder,
  document: ActionDocument,
): void {
  const name = String(steps[0]);
  const schema = root === "params" ? argumentsOf(document).get(name) : undefined;
  if (schema === undefined) return;
  if (!isRequired(document, name) && schema.default === undefined) {
    file.fault(
      path,
      `{{${text}}} is optional, and a path cannot go without it`,
      `make ${name} required, or give it a default`,
    );
  }
  if (!["string", "integer", "number"].includes(String(schema.type))) {
    file.fault(path, `{{${text}}} is not a string or number`, "a path segment is one text or number");
  }
}

/** An argument may stay out of the request only when it fills a label of the host that a deployment declares. */
function checkUnplaced(file: DefinitionFile, document: ActionDocument, name: string, schema: JsonSchema): void {
  const path = ["input", "properties", name];
  if (schema["x-host"] === true) {
    if (typeof schema.pattern !== "string")
      file.fault(path, "fills a host label and has no pattern", "add a pattern of DNS labels");
  } else if (isRequired(document, name)) {
    file.fault(
      path,
      "is required, and no part of the request carries it",
      `place {{params.${name}}} in path, query, headers or body`,
    );
  } else {
    file.fault(path, "is accepted, and dropped by the request", `place {{params.${name}}}, or remove the argument`);
  }
}

function checkResponse(file: DefinitionFile, { response, output }: ActionDocument): void {
  if (!isJsonObject(response?.empty) || !isJsonObject(output.properties)) return;
  for (const key of Object.keys(response.empty)) {
    if (!Object.hasOwn(output.properties, key)) {
      file.fault(["response", "empty", key], "is not a property of output", "declare it there, or trimming drops it");
    }
  }
}

function checkIdempotency(file: DefinitionFile, document: ActionDocument): void {
  const { argument, header } = document.idempotency ?? {};
  if (argument !== undefined && header !== undefined) {
    file.fault(["idempotency"], "has both argument and header", "keep the one that the app reads");
  }
  if (argument !== undefined && !argumentsOf(document).has(argument)) {
    file.fault(["idempotency", "argument"], `"${argument}" is not an argument`, "name one of input.properties");
  }
}
