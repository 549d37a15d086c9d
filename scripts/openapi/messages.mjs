// Describes the messages and enums of the contract as JSON Schemas.
import { ScalarType } from "@bufbuild/protobuf";
import { commentOf } from "./comments.mjs";

/** Value of a field's presence in a descriptor, if the JSON form always contains the field (FeatureSet.FieldPresence IMPLICIT). */
const implicit = 2;

/**
 * Returns the schemas of all messages and enums that the calls need, by name, and a function that returns the reference to a message. A
 * message in requests is strict: it has no other fields. A message in responses is open. A message in both has two schemas; the name of the
 * strict one ends with `Input`.
 */
export function describeMessages(calls) {
  const asked = reachable(calls.map(({ input }) => input));
  const answered = reachable(calls.map(({ output }) => output));
  const nameOf = (kind, way) => {
    const name = kind.typeName.replace(/^.*?\bv1\./, "").replaceAll(".", "");
    const isTwofold = kind.kind === "message" && asked.has(kind) && answered.has(kind);
    return isTwofold && way === "request" ? `${name}Input` : name;
  };
  const refOf = (kind, way) => ({ $ref: `#/components/schemas/${nameOf(kind, way)}` });
  const schemas = new Map();
  for (const [way, kinds] of [
    ["request", asked],
    ["response", answered],
  ])
    for (const kind of kinds) {
      const known = schemas.get(nameOf(kind, way));
      if (known !== undefined && known.kind !== kind) throw new Error(`two types have the name ${nameOf(kind, way)}`);
      schemas.set(nameOf(kind, way), { kind, schema: schemaOf(kind, way, refOf) });
    }
  const sorted = [...schemas].sort(([a], [b]) => (a < b ? -1 : 1));
  return { refOf, schemas: Object.fromEntries(sorted.map(([name, { schema }]) => [name, schema])) };
}

/** Returns the messages, and all messages and enums of the contract in their fields. */
function reachable(messages) {
  const kinds = new Set(messages);
  for (const kind of kinds) {
    if (kind.kind !== "message") continue;
    for (const field of fieldsWithin(kind)) {
      const inner = field.message ?? field.enum;
      if (inner !== undefined && wellKnown[inner.typeName] === undefined) kinds.add(inner);
    }
  }
  return kinds;
}

function fieldsWithin({ fields }) {
  return fields.filter((field) => (field.message ?? field.enum) !== undefined);
}

function schemaOf(kind, way, refOf) {
  if (kind.kind === "enum") return enumSchema(kind);
  const properties = kind.fields.map((field) => [field.jsonName, propertyOf(field, way, refOf)]);
  const always = way === "response" ? kind.fields.filter(isAlwaysWritten).map(({ jsonName }) => jsonName) : [];
  const description = commentOf(kind);
  return {
    type: "object",
    ...(description !== "" && { description }),
    properties: Object.fromEntries(properties),
    ...(always.length > 0 && { required: always }),
    ...(way === "request" && { additionalProperties: false }),
  };
}

function isAlwaysWritten({ fieldKind, presence, oneof }) {
  return fieldKind === "list" || fieldKind === "map" || (presence === implicit && oneof === undefined);
}

function enumSchema(kind) {
  const values = kind.values.map((value) => `- \`${value.name}\`: ${commentOf(value).replace(/\s+/g, " ")}`);
  return {
    type: "string",
    description: [commentOf(kind), "", ...values].join("\n"),
    enum: kind.values.map(({ name }) => name),
  };
}

function propertyOf(field, way, refOf) {
  const says = commentOf(field);
  const description = field.oneof === undefined ? says : `${says} ${exclusion(field)}`.trim();
  return { ...valuesOf(field, way, refOf), ...(description !== "" && { description }) };
}

/** Returns the sentence that names the other fields, of which only one may be set. */
function exclusion({ oneof, jsonName }) {
  const others = oneof.fields.map((field) => field.jsonName).filter((name) => name !== jsonName);
  return others.length === 0 ? "" : `Excludes ${others.map((name) => `\`${name}\``).join(", ")}.`;
}

function valuesOf(field, way, refOf) {
  const one = valueSchema(field, way, refOf);
  if (field.fieldKind === "list") return { type: "array", items: one };
  if (field.fieldKind === "map") return { type: "object", additionalProperties: one };
  return one;
}

function valueSchema({ message, enum: enumeration, scalar }, way, refOf) {
  if (message !== undefined) return wellKnown[message.typeName] ?? refOf(message, way);
  if (enumeration === undefined) return scalars[scalar];
  // A later version may answer with a value that this document does not know.
  return way === "request" ? refOf(enumeration) : { anyOf: [refOf(enumeration), { type: "string" }] };
}

const wellKnown = {
  "google.protobuf.Timestamp": { type: "string", format: "date-time" },
  "google.protobuf.Duration": { type: "string", pattern: "^-?[0-9]+(\\.[0-9]{1,9})?s$", examples: ["1.5s"] },
};

const wholeNumber = { type: "integer", format: "int32" };
const count = { type: "integer", minimum: 0, maximum: 4_294_967_295 };
/** Integers of 64 bits are texts in JSON, because many readers of JSON lose digits of such numbers. */
const longNumber = { type: "string", pattern: "^-?[0-9]+$" };
const scalars = {
  [ScalarType.DOUBLE]: { type: "number", format: "double" },
  [ScalarType.FLOAT]: { type: "number", format: "float" },
  [ScalarType.INT32]: wholeNumber,
  [ScalarType.SINT32]: wholeNumber,
  [ScalarType.SFIXED32]: wholeNumber,
  [ScalarType.UINT32]: count,
  [ScalarType.FIXED32]: count,
  [ScalarType.INT64]: longNumber,
  [ScalarType.SINT64]: longNumber,
  [ScalarType.SFIXED64]: longNumber,
  [ScalarType.UINT64]: longNumber,
  [ScalarType.FIXED64]: longNumber,
  [ScalarType.BOOL]: { type: "boolean" },
  [ScalarType.STRING]: { type: "string" },
  [ScalarType.BYTES]: { type: "string", contentEncoding: "base64" },
};
