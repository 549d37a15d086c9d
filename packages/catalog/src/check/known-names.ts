import { isObject } from "@svc/core";
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
type Made = { readonly made: Map<string, KnownNames>; readonly ids: Map<JsonSchema, number> };

function namesAt(place: SchemaPlace, made: Made): KnownNames {
  const key = place.schemas.map((schema) => idOf(schema, made)).join();
  let known = made.made.get(key);
  if (known === undefined) {
    known = createNames(place, made);
    made.made.set(key, known);
  }
  return known;
}

function idOf(schema: JsonSchema, { ids }: Made): number {
  const id = ids.get(schema) ?? ids.size;
  ids.set(schema, id);
  return id;
}

function createNames(place: SchemaPlace, made: Made): KnownNames {
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
