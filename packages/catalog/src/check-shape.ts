import { formatValue } from "@svc/core";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import type { FaultPath } from "./definition-error.ts";
import type { DefinitionFile } from "./definition-file.ts";
import deploymentSchema from "./schemas/deployment.schema.json" with { type: "json" };
import toolSchema from "./schemas/tool.schema.json" with { type: "json" };
import toolkitSchema from "./schemas/toolkit.schema.json" with { type: "json" };

const ajv = new Ajv2020({
  allErrors: true,
  verbose: true,
  discriminator: true,
  allowUnionTypes: true,
  strictTypes: false,
});
formats.default(ajv);
ajv.addSchema(toolSchema, "tool.schema.json");
ajv.addSchema(toolkitSchema, "toolkit.schema.json");
ajv.addSchema(deploymentSchema, "deployment.schema.json");

/** Checks a file against one of the package's schemas, which editors can use too. Records every fault; true when there is none. */
export function checkShape(file: DefinitionFile, schema: "toolkit" | "tool" | "deployment"): boolean {
  const validate = ajv.getSchema(`${schema}.schema.json`) as ValidateFunction;
  if (validate(file.value)) return true;
  for (const error of validate.errors ?? []) report(file, error);
  return false;
}

function report(file: DefinitionFile, error: ErrorObject): void {
  const path = pathOf(error.instancePath, file.value);
  const cure = cureOf(error);
  const { keyword, params } = error;
  if (keyword === "additionalProperties") {
    file.fault([...path, params.additionalProperty], "is not known here", cure);
  } else if (keyword === "required") {
    file.fault([...path, params.missingProperty], "is missing", cure);
  } else if (keyword === "discriminator") {
    const given = JSON.stringify((error.data as Record<string, unknown> | null)?.[params.tag as string]);
    file.fault([...path, params.tag], given === undefined ? "is missing" : `is ${given}`, cure);
  } else {
    file.fault(path, `is ${formatValue(error.data)}, which ${error.message ?? "is not allowed"}`, cure);
  }
}

/** What would be right: the known names, the allowed values, or the description the schema gives the field. */
function cureOf({ keyword, params, parentSchema, schema }: ErrorObject): string {
  if (keyword === "additionalProperties") {
    return `use one of ${Object.keys((parentSchema?.properties as object | undefined) ?? {}).join(", ")}`;
  }
  if (keyword === "required") return `add it${descriptionOf(parentSchema, params.missingProperty, ": ")}`;
  if (keyword === "enum") return `use one of ${(schema as unknown[]).map(String).join(", ")}`;
  if (keyword === "const") return `use ${JSON.stringify(schema)}`;
  if (keyword === "discriminator") return `use one of ${tagsOf(parentSchema, params.tag).join(", ")}`;
  return `write ${parentSchema?.description ?? `what satisfies "${keyword}"`}`;
}

const definitions: Readonly<Record<string, object>> = { ...toolSchema.$defs, ...toolkitSchema.$defs };

/** The description of a property, which may stand behind a reference; empty when there is none. */
function descriptionOf(parent: ErrorObject["parentSchema"], name: string, prefix: string): string {
  type Described = { readonly description?: string; readonly $ref?: string };
  const property = (parent?.properties as Record<string, Described> | undefined)?.[name];
  const referred: Described | undefined = definitions[property?.$ref?.replace(/^.*#\/\$defs\//, "") ?? ""];
  const description = property?.description ?? referred?.description;
  return description === undefined ? "" : `${prefix}${description}`;
}

type Branch = { readonly properties: Readonly<Record<string, { readonly const?: string }>> };

/** The values that the branches of a discriminated union declare for its tag. */
function tagsOf(union: ErrorObject["parentSchema"], tag: string): string[] {
  const branches = (union?.oneOf as { $ref: string }[] | undefined) ?? [];
  return branches.map(({ $ref }) => {
    const branch = definitions[$ref.replace("#/$defs/", "")] as Branch | undefined;
    return String(branch?.properties[tag]?.const);
  });
}

/** Turns a JSON Pointer into a path; a step into a list becomes a number. */
function pathOf(pointer: string, root: unknown): FaultPath {
  const path: (string | number)[] = [];
  let value = root;
  for (const escaped of pointer.split("/").slice(1)) {
    const step = escaped.replaceAll("~1", "/").replaceAll("~0", "~");
    path.push(Array.isArray(value) ? Number(step) : step);
    value = (value as Record<string, unknown> | undefined)?.[step];
  }
  return path;
}
