import { formatValue, isObject } from "@svc/core";
import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { DefinitionFile, FaultPath } from "../read/definition-file.ts";
import { addFormats } from "../schema/formats.ts";
import deploymentSchema from "../schemas/deployment.schema.json" with { type: "json" };
import toolSchema from "../schemas/tool.schema.json" with { type: "json" };
import toolkitSchema from "../schemas/toolkit.schema.json" with { type: "json" };
import { withoutNoise } from "./alternatives.ts";

const ajv = new Ajv2020({
  allErrors: true,
  verbose: true,
  discriminator: true,
  allowUnionTypes: true,
  strictTypes: false,
});
addFormats(ajv);
ajv.addSchema(toolSchema, "tool.schema.json");
ajv.addSchema(toolkitSchema, "toolkit.schema.json");
ajv.addSchema(deploymentSchema, "deployment.schema.json");

/**
 * How finely each kind of file is divided into parts for the checks. The number is the depth of a part: the length of its path from the
 * root of the file. If one part has errors, svc still checks the other parts.
 */
const partDepth = { toolkit: 1, tool: 1, deployment: 3 };

/**
 * Checks the form of a definition file against one of the JSON Schemas in the folder `schemas`, which editors also use, and records every
 * error. Returns the parts of the file without errors, for further checks. Returns undefined if no part is left.
 */
export function checkShape<T extends object>(
  file: DefinitionFile,
  schema: "toolkit" | "tool" | "deployment",
): Partial<T> | undefined {
  const validate = ajv.getSchema(`${schema}.schema.json`) as ValidateFunction;
  if (validate(file.value)) return file.value as T;
  const paths = withoutNoise(validate.errors ?? []).map((error) => report(file, error).slice(0, partDepth[schema]));
  return without(file.value, paths) as Partial<T> | undefined;
}

/**
 * Returns a copy of a JSON value without the parts at some paths. Undefined if one of the paths is the root. Copies each object once,
 * because a file may have thousands of wrong parts.
 */
function without(value: unknown, paths: readonly FaultPath[]): unknown {
  if (paths.some(({ length }) => length === 0)) return undefined;
  if (!isObject(value)) return value;
  const below = Map.groupBy(paths, ([step]) => String(step));
  const kept = Object.entries(value).flatMap(([name, child]): [string, unknown][] => {
    const rests = below.get(name)?.map(([, ...rest]) => rest);
    if (rests === undefined) return [[name, child]];
    return rests.some(({ length }) => length === 0) ? [] : [[name, without(child, rests)]];
  });
  return Object.fromEntries(kept);
}

/** Records one error in `file`. Returns the path in the file to the wrong, unknown or missing value. */
function report(file: DefinitionFile, error: ErrorObject): FaultPath {
  const { params } = error;
  const step: string | undefined = params.additionalProperty ?? params.missingProperty ?? params.tag;
  const path = [...pathOf(error.instancePath, file.value), ...(step === undefined ? [] : [step])];
  file.fault(path, reasonOf(error), cureOf(error));
  return path;
}

function reasonOf({ keyword, params, data, message = "is not allowed" }: ErrorObject): string {
  if (keyword === "additionalProperties") return "is not known here";
  if (keyword === "required") return "is missing";
  if (keyword !== "discriminator") return `is ${formatValue(data)}, which ${message}`;
  const given = JSON.stringify((data as Record<string, unknown> | null)?.[params.tag as string]);
  return given === undefined ? "is missing" : `is ${given}`;
}

/** Returns the correction of an error: the known names, the allowed values, or the field's description from the schema. */
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

/** Returns the description of a property, also if the schema refers to it by `$ref`; empty if there is none. */
function descriptionOf(parent: ErrorObject["parentSchema"], name: string, prefix: string): string {
  type Described = { readonly description?: string; readonly $ref?: string };
  const property = (parent?.properties as Record<string, Described> | undefined)?.[name];
  const referred: Described | undefined = definitions[property?.$ref?.replace(/^.*#\/\$defs\//, "") ?? ""];
  const description = property?.description ?? referred?.description;
  return description === undefined ? "" : `${prefix}${description}`;
}

type Branch = { readonly properties: Readonly<Record<string, { readonly const?: string }>> };

/** Returns the values that the branches of a discriminated union allow for the field `tag`. */
function tagsOf(union: ErrorObject["parentSchema"], tag: string): string[] {
  const branches = (union?.oneOf as { $ref: string }[] | undefined) ?? [];
  return branches.map(({ $ref }) => {
    const branch = definitions[$ref.replace("#/$defs/", "")] as Branch | undefined;
    return String(branch?.properties[tag]?.const);
  });
}

/** Returns the path to which a JSON Pointer leads, as names and indexes. List indexes become numbers. */
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
