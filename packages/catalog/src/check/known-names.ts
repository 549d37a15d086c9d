import { isMethodOverride, isObject } from "@svc/core";
import type { DefinitionFile, FaultPath } from "../read/definition-file.ts";
import type { JsonSchema } from "../read/documents.ts";
import { placeAt, type SchemaPlace, schemaPlace } from "./sensitivity.ts";

/** The names that a schema knows at one place of its values. */
export type KnownNames = {
  /** Whether a name is declared there, or any is, where the schema declares none or says what others hold. */
  knows(name: string): boolean;
  /** The names below a property, or below an item of a list. */
  at(step: string | number): KnownNames;
};

/** The names that values of a schema may have: of each schema made once, and of each of its places when first asked for. */
export function knownNames(schema: JsonSchema): KnownNames {
  let known = ofSchemas.get(schema);
  if (known === undefined) {
    known = namesAt(schemaPlace(schema), { made: new Map(), ids: new Map() });
    ofSchemas.set(schema, known);
  }
  return known;
}

const ofSchemas = new WeakMap<JsonSchema, KnownNames>();

/** What was made of one schema, by the schemas that speak of a place: references in a circle lead to the same few places. */
type MadeNames = { readonly made: Map<string, KnownNames>; readonly ids: Map<JsonSchema, number> };

function namesAt(place: SchemaPlace, made: MadeNames): KnownNames {
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
      // All items behind the declared first ones, and all names that are not declared, stand at one place each.
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
 * Headers that frame a message, name its host or choose how the answer is packed: the sender writes them (RFC 9110, 7.2, 7.6.1,
 * 11.7 and 12.5.3; RFC 9112, 6).
 */
const ownHeaders = new Set(
  `accept-encoding connection content-length expect host keep-alive proxy-authorization proxy-connection te trailer
  transfer-encoding upgrade`.split(/\s+/),
);

/** Says what is wrong with a name that a definition gives a request header, as [reason, cure]; undefined when nothing is. */
export function faultOfHeaderName(name: string): readonly [reason: string, cure: string] | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return [`"${name}" is not a header name`, "use letters, digits, - and _"];
  if (ownHeaders.has(name.toLowerCase())) return [`"${name}" is written by the sender`, "remove it"];
  return faultOfFieldName(name);
}

/** Says what is wrong with the name of a field that a request carries: some servers take it for the method, and the call would be another than its class says. */
export function faultOfFieldName(name: string): readonly [reason: string, cure: string] | undefined {
  return isMethodOverride(name) ? [`"${name}" changes the method`, "write it as request.method"] : undefined;
}

/** Checks the names of headers, parameters and fields that requests carry. Records every fault. */
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
