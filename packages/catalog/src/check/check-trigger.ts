import { isObject } from "@svc/core";
import type { FaultPath } from "../read/definition-error.ts";
import type { DefinitionFile } from "../read/definition-file.ts";
import type { JsonSchema, TriggerDocument, WebhookDocument } from "../read/documents.ts";
import { checkTemplates, type Namespaces } from "./check-placeholders.ts";
import { checkSchema } from "./check-schema.ts";

const namespaces: Namespaces = { headers: "any", query: "any", body: "any" };

/** The rules of a trigger that its schema cannot say, for the parts that have their shape. Records every fault. */
export function checkTrigger(
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
  for (const key of ["account", "dedupe", "occurredAt", "payload"] as const) {
    const { placeholders } = checkTemplates(file, [key], document[key] ?? "", namespaces);
    for (const [{ root, path, text }, at] of placeholders) {
      const name = String(path[0]);
      if (root === "headers" && name !== name.toLowerCase()) {
        file.fault(
          at,
          `{{${text}}} has capitals, and header names are compared in lower case`,
          "write it in lower case",
        );
      }
      if (root === "query" && webhook?.scheme === "token_query" && name === webhook.parameter) {
        file.fault(at, `{{${text}}} is the webhook's secret`, "take another value: the secret stays out of events");
      }
    }
  }
  if (payload !== undefined && output !== undefined) comparePayload(file, ["payload"], payload, output);
}

/** Holds the payload's fields and those of the output schema together, as deep as both are written out. */
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
