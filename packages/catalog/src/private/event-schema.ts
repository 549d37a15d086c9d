import { isObject, parseExactJson, replaceRawNumbers } from "@svc/core";
import { checkSchema } from "../check/check-schema.ts";
import { createDefinitionFile, type FileFault, inexactCure } from "../read/definition-file.ts";
import type { JsonSchema } from "../read/documents.ts";
import { createTenantValidators } from "../schema/json-schema.ts";
import { sampleValue } from "../schema/sample-value.ts";
import { shownSampleMs } from "../view/sample-post.ts";
import { checkSchemaSizes, checkTenantSchema, checkTenantSize } from "./check-tenant.ts";
import { checkCompiles, checkPatternCost } from "./parse-definition.ts";

/**
 * Parses and checks the JSON Schema of an event type's payload. Returns the schema, or its errors. Its top level must have the type
 * `object`.
 */
export function readEventSchema(
  schemaJson: string,
): { readonly schema: JsonSchema } | { readonly faults: readonly FileFault[] } {
  const schema = parse(schemaJson);
  const file = createDefinitionFile("", { output: schema });
  if (!isObject(schema)) {
    file.fault([], "is not a JSON object", 'write a JSON Schema, such as {"type": "object"}');
    return { faults: file.faults };
  }
  replaceRawNumbers(schema, (raw) => {
    file.fault([], `has the number ${JSON.stringify(raw)}, which a double cannot represent`, inexactCure);
    return 0;
  });
  if (schema["type"] !== "object") file.fault(["type"], "is not object", "write object: a payload is an object");
  // The checks in their order. Each check reads only what the checks before it have accepted.
  const checks = [
    () => checkTenantSize(file),
    () => checkPatternCost([file]),
    () => checkSchema(file, ["output"], schema, "output"),
    () => checkTenantSchema(file, ["output"], schema),
    () => checkSchemaSizes(file),
    () => checkCompiles(file),
  ];
  for (const check of checks) {
    if (file.faults.length > 0) break;
    check();
  }
  const faults = file.faults.map((fault) => ({ ...fault, path: fault.path.replace(/^output\.?/, "") }));
  return faults.length > 0 ? { faults } : { schema };
}

/** Returns an example value that satisfies a schema. Undefined if no example could be made that satisfies it. */
export function sampleOfSchema(schema: JsonSchema): unknown {
  const sample = sampleValue(schema, "value", shownSampleMs);
  return createTenantValidators()(schema)(sample).length === 0 ? sample : undefined;
}

function parse(text: string): unknown {
  try {
    // Limits no depth, because checkTenantSize reports a schema that is too deep.
    return parseExactJson(text, { depthMax: Number.POSITIVE_INFINITY });
  } catch {
    return undefined;
  }
}
