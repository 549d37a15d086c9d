import { isObject } from "@svc/core";
import type { ErrorObject } from "ajv/dist/2020.js";
import { shorten, withoutNoise } from "./alternatives.ts";
import { nearest } from "./nearest.ts";

/**
 * An error of a value against its schema. `pointer`: JSON Pointer to the value. `message`: the problem. `property`: name of the property
 * that is missing or not allowed. `missing`: name of the property, set only if the property is missing.
 */
export type SchemaFault = {
  readonly pointer: string;
  readonly message: string;
  readonly property?: string;
  readonly missing?: string;
};

/**
 * Maximum number of errors listed for a value. If there are more, the last error of the list gives the number of those that are not listed.
 */
const faultsMax = 100;
/**
 * Maximum number of errors of the schema validator that are read to make the list of errors. It is higher than the length of the list,
 * because many validator errors describe the same error.
 */
const lookedMax = 1_000;

/**
 * Converts the verbose errors of the schema validator (Ajv), without duplicates. Returns at most 100 errors. If there are more, the last
 * one says how many were left out.
 */
export function toFaults(errors: readonly ErrorObject[] | null | undefined): SchemaFault[] {
  const found = withoutNoise(errors ?? []);
  const faults = new Map<string, SchemaFault>();
  for (const [index, error] of found.entries()) {
    if (index === lookedMax) {
      return [
        ...faults.values(),
        { pointer: "", message: `and ${found.length - index} more faults, which are not listed` },
      ];
    }
    const fault = toFault(error);
    const key = `${fault.pointer} ${fault.message}`;
    if (faults.has(key)) continue;
    if (faults.size === faultsMax) {
      const listed = [...faults.values()].slice(0, faultsMax - 1);
      return [...listed, { pointer: "", message: `and ${found.length - index + 1} more faults, which are not listed` }];
    }
    faults.set(key, fault);
  }
  return [...faults.values()];
}

function toFault(error: ErrorObject): SchemaFault {
  const { additionalProperty, missingProperty } = error.params;
  const property: unknown = additionalProperty ?? missingProperty;
  const fault = { pointer: shortPointer(error.instancePath), message: messageOf(error) };
  if (typeof property !== "string") return fault;
  return additionalProperty === undefined ? { ...fault, property, missing: property } : { ...fault, property };
}

/**
 * Returns the JSON Pointer of a value, if it has at most 1000 characters. Otherwise returns the pointer of an object or list that contains
 * the value: the longest pointer with at most 1000 characters.
 */
function shortPointer(pointer: string): string {
  return pointer.length <= 1000 ? pointer : pointer.slice(0, Math.max(0, pointer.lastIndexOf("/", 1000)));
}

function messageOf(error: ErrorObject): string {
  const { keyword, params, data, message = keyword } = error;

  if (keyword === "additionalProperties") return ofUnknownProperty(error);
  if (keyword === "enum") return `must be one of ${valuesText(params.allowedValues)}${meantText(error)}`;
  if (keyword === "type") {
    const types = [params.type].flat();
    const isBeyond = typeof data === "number" && Math.abs(data) === Number.POSITIVE_INFINITY;
    if (isBeyond && types.some((type) => type === "number" || type === "integer")) return "is too large for a number";
    return `must be ${types.join(" or ")}`;
  }
  if (keyword === "const") return `must be ${shorten(JSON.stringify(params.allowedValue) ?? "", 300)}`;
  return shorten(message, 1000);
}

/** Returns a text that suggests the enum value which the given text probably means; empty if there is none. */
function meantText({ params, data }: ErrorObject): string {
  const allowed: readonly unknown[] = Array.isArray(params.allowedValues) ? params.allowedValues : [];
  const texts = allowed.filter((value) => typeof value === "string");
  const meant = typeof data === "string" ? nearest(data, texts) : undefined;
  return meant === undefined ? "" : ` (did you mean ${shorten(meant, 100)}?)`;
}

function ofUnknownProperty({ params, parentSchema, data }: ErrorObject): string {
  const declared = isObject(parentSchema?.properties) ? Object.keys(parentSchema.properties) : [];
  const free = declared.filter((other) => !isObject(data) || !Object.hasOwn(data, other));
  return unknownPropertyText(String(params.additionalProperty), free);
}

/** Returns the description of an unknown property, with the most similar name in `free` (known names that are not used). */
export function unknownPropertyText(name: string, free: readonly string[]): string {
  const meant = nearest(name, free);
  const text = `must not have the property "${shorten(name, 200)}"`;
  return meant === undefined ? text : `${text}; did you mean "${meant}"?`;
}

/** Returns the values of an enum as text: at most 20 values, in about 300 characters. */
function valuesText(allowed: unknown): string {
  const values: readonly unknown[] = Array.isArray(allowed) ? allowed : [];
  const shown: string[] = [];
  let length = 0;
  for (const value of values.slice(0, 20)) {
    const text = shorten(typeof value === "object" ? JSON.stringify(value) : String(value), 100);
    length += text.length + 2;
    if (length > 300) break;
    shown.push(text);
  }
  const others = values.length - shown.length;
  return `${shown.join(", ")}${others === 0 ? "" : `, and ${others} more`}`;
}
