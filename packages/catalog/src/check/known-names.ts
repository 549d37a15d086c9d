import { isMethodOverride, isObject } from "@svc/core";
import type { DefinitionFile, FaultPath } from "../read/definition-file.ts";
import type { JsonSchema } from "../read/documents.ts";
import { placeAt, type SchemaPlace, schemaPlace } from "./sensitivity.ts";

/** The property names that a schema declares for a value, and for the values inside it. */
export type KnownNames = {
  /**
   * Returns true if the schema declares a property with this name at this position of the value. Returns true for every name if the schema
   * declares no properties there, or allows further ones.
   */
  knows(name: string): boolean;
  /**
   * Returns the names that the schema declares one level deeper, at `step` below this position: in the property with this name, or in an
   * item of the list.
   */
  at(step: string | number): KnownNames;
};

/**
 * Returns the property names that values described by a schema may have. The result is created once per schema. The names at a position
 * inside the value are collected when they are first requested.
 */
export function knownNames(schema: JsonSchema): KnownNames {
  let known = ofSchemas.get(schema);
  if (known === undefined) {
    known = namesAt(schemaPlace(schema), { made: new Map(), ids: new Map() });
    ofSchemas.set(schema, known);
  }
  return known;
}

const ofSchemas = new WeakMap<JsonSchema, KnownNames>();

/** Cache of the property names in one schema. `made`: the names by their position. `ids`: a number for each part of the schema. */
type MadeNames = { readonly made: Map<string, KnownNames>; readonly ids: Map<JsonSchema, number> };

function namesAt(place: SchemaPlace, made: MadeNames): KnownNames {
  // Positions with the same schemas share an entry. So a schema that refers to itself makes only a few entries.
  const key = place.schemas.map((schema) => idOf(schema, made)).join();
  let known = made.made.get(key);
  if (known === undefined) {
    known = createNames(place, made);
    made.made.set(key, known);
  }
  return known;
}

function idOf(schema: JsonSchema, { ids }: MadeNames): number {
  const id = ids.get(schema) ?? ids.size;
  ids.set(schema, id);
  return id;
}

function createNames(place: SchemaPlace, made: MadeNames): KnownNames {
  const { schemas, isUnknown } = place;
  const declared = new Set(schemas.flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : [])));
  const takesOthers = schemas.some(({ additionalProperties, patternProperties, unevaluatedProperties }) => {
    return [additionalProperties, unevaluatedProperties].some(isGiven) || patternProperties !== undefined;
  });
  const isOpen = isUnknown || declared.size === 0 || takesOthers;
  const prefix = Math.max(
    0,
    ...schemas.map(({ prefixItems }) => (Array.isArray(prefixItems) ? prefixItems.length : 0)),
  );
  const below = new Map<string | number, KnownNames>();
  return {
    knows: (name) => isOpen || declared.has(name),
    at(step) {
      // The key of the position in the cache. All undeclared names share one key. All list items after the individually declared items also
      // share one key.
      const asked = typeof step === "number" ? Math.min(step, prefix) : declared.has(step) ? step : "";
      let known = below.get(asked);
      if (known === undefined) {
        known = namesAt(placeAt(place, asked), made);
        below.set(asked, known);
      }
      return known;
    },
  };
}

function isGiven(rule: unknown): boolean {
  return rule === true || isObject(rule);
}

/**
 * Headers that a definition may not set, because the sender sets them: they frame a message, name its host, or choose the encoding of the
 * answer (RFC 9110, 7.2, 7.6.1, 11.7 and 12.5.3; RFC 9112, 6).
 */
const ownHeaders = new Set(
  `accept-encoding connection content-length expect host keep-alive proxy-authorization proxy-connection te trailer
  transfer-encoding upgrade`.split(/\s+/),
);

/** Returns the error of a header's name in a definition's request, as [reason, correction]; undefined if the name is valid. */
export function faultOfHeaderName(name: string): readonly [reason: string, cure: string] | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return [`"${name}" is not a header name`, "use letters, digits, - and _"];
  if (ownHeaders.has(name.toLowerCase())) return [`"${name}" is written by the sender`, "remove it"];
  return faultOfFieldName(name);
}

/**
 * Returns the error of the name of a parameter or field, as [reason, correction]; undefined if the name is valid. A name is not valid if
 * some servers use this field as the HTTP method. The access class of the call would then be wrong.
 */
export function faultOfFieldName(name: string): readonly [reason: string, cure: string] | undefined {
  return isMethodOverride(name) ? [`"${name}" changes the method`, "write it as request.method"] : undefined;
}

/** Checks that a definition's requests contain only allowed names of headers, parameters and fields. Records every error. */
export function checkNames(
  file: DefinitionFile,
  path: FaultPath,
  {
    headers,
    query,
    body,
  }: { readonly headers?: object | undefined; readonly query?: object | undefined; readonly body?: unknown } = {},
): void {
  checkHeaderNames(file, [...path, "headers"], headers);
  for (const [place, fields] of Object.entries({ query, body: isObject(body) ? body : undefined })) {
    for (const name of Object.keys(fields ?? {})) {
      const fault = faultOfFieldName(name);
      if (fault !== undefined) file.fault([...path, place, name], ...fault);
    }
  }
}

function checkHeaderNames(file: DefinitionFile, path: FaultPath, headers: object | undefined): void {
  for (const name of Object.keys(headers ?? {})) {
    const fault = faultOfHeaderName(name);
    if (fault !== undefined) file.fault([...path, name], ...fault);
  }
}

/** True for a slug of a toolkit (an app) and for the name of a tool: lower-case words joined by `_`, at most 60 characters. */
export function isSlug(text: string): boolean {
  return /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(text) && text.length <= 60;
}
