import { isObject } from "@svc/core";
import type { DefinitionFile } from "../read/definition-file.ts";
import type { ActionDocument, JsonSchema } from "../read/documents.ts";
import { checkPaging } from "./check-paging.ts";
import { checkPlaces, type DeclaredArguments } from "./check-places.ts";
import { checkPoll } from "./check-poll.ts";
import { checkResponse, checkTemplates, deploymentNamespace, type Namespaces } from "./check-response.ts";
import { checkSchema } from "./check-schema.ts";
import { checkNames, faultOfHeaderName } from "./known-names.ts";

/**
 * Checks the rules for an action that the JSON Schema of action files cannot express. Only parts of the file with a valid form are checked.
 * `account`: the account variables that the app's toolkit declares. Adds each error to `file`.
 */
export function checkAction(
  file: DefinitionFile,
  document: Partial<ActionDocument>,
  account: Namespaces[string],
): void {
  const { input, output, request } = document;
  const declared = input === undefined ? undefined : declaredArguments(input);
  if (declared !== undefined) checkInput(file, declared, document);
  if (output !== undefined) checkSchema(file, ["output"], output, "output");
  if (request !== undefined) {
    checkMethod(file, document);
    checkNames(file, ["request"], request);
    const params = declared === undefined ? "any" : new Set(declared.keys());
    const { tree } = checkTemplates(file, ["request"], request, {
      params,
      account,
      deployment: deploymentNamespace,
    });
    if (declared !== undefined) checkPlaces(file, declared, tree);
  }
  if (document.uncallableReason !== undefined && document.callable !== false) {
    file.fault(
      ["uncallableReason"],
      "is on a tool that can be called",
      "write callable: false too, or remove the reason",
    );
  }
  checkResponse(file, document);
  checkIdempotency(file, document, declared);
  checkPaging(file, document);
  checkPoll(file, document);
}

function checkInput(
  file: DefinitionFile,
  declared: DeclaredArguments,
  { input = {}, class: access }: Partial<ActionDocument>,
) {
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
  checkSchema(file, ["input"], input, "input");
}

function checkMethod(file: DefinitionFile, { request, class: access }: Partial<ActionDocument>): void {
  if (request?.method === "DELETE" && access === "read") {
    file.fault(["class"], "is read, and the call is a DELETE", "write destructive (or write, when nothing is lost)");
  }
  if (request?.encoding === "form" && (request.body === undefined || Array.isArray(request.body))) {
    const reason =
      request.body === undefined ? "is form, and the request has no body" : "is form, and the body is a list";
    file.fault(["request", "encoding"], reason, "remove encoding, or write an object as the body");
  }
  if (request?.emptyBody !== undefined && request.body === undefined) {
    file.fault(["request", "emptyBody"], "is set, and the request has no body", "remove emptyBody, or write a body");
  }
  if (request?.method === "GET" && request.body !== undefined) {
    file.fault(["request", "body"], "is in a GET", "move it to query, or change the method");
  }
}

function checkIdempotency(
  file: DefinitionFile,
  { idempotency }: Partial<ActionDocument>,
  declared: DeclaredArguments | undefined,
): void {
  const { argument, header } = idempotency ?? {};
  if (argument !== undefined && header !== undefined) {
    file.fault(["idempotency"], "has both argument and header", "keep the one that the app reads");
  }
  if (argument !== undefined && declared?.has(argument) === false) {
    file.fault(["idempotency", "argument"], `"${argument}" is not an argument`, "name one of input.properties");
  }
  const fault = header === undefined ? undefined : faultOfHeaderName(header);
  if (fault !== undefined) file.fault(["idempotency", "header"], ...fault);
}

/** Returns the arguments that a tool's input schema declares. */
function declaredArguments(input: JsonSchema): DeclaredArguments {
  const properties = isObject(input.properties) ? input.properties : {};
  const required = new Set(Array.isArray(input.required) ? input.required : []);
  return new Map(
    Object.entries(properties).map(([name, schema]) => {
      return [name, { schema: isObject(schema) ? schema : {}, isRequired: required.has(name) }];
    }),
  );
}
