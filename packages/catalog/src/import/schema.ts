import { isObject } from "@svc/core";
import type { JsonSchema } from "../read/documents.ts";
import { isKnownFormat } from "../schema/formats.ts";
import { type KnownProperties, type KnownSchemas, knownSchemasOf, type MergedSchema } from "./known-schemas.ts";
import { type DocumentNode, resolved, withSiblings } from "./read.ts";

/** Limits of a JSON Schema that svc makes from a schema of an imported document: levels of nesting, and number of schemas in it. */
export type SchemaLimits = { readonly depth: number; readonly nodes: number };

/**
 * How the JSON schemas of a document are converted. `part`: the schemas describe arguments (`input`) or results (`output`). `onCut`: called
 * with the reason when a part of a schema is left out; `count` is the number of such parts (default 1). `patterns`: the size that the
 * toolkit's regular expressions may still have together.
 */
export type SchemaConversion = {
  readonly root: DocumentNode;
  readonly part: "input" | "output";
  readonly limits: SchemaLimits;
  readonly onCut: (reason: string, count?: number) => void;
  readonly patterns: { left: number; readonly known: Set<string> };
};

/** `isItem`: true for the item of a list, which has no name of its own. */
type Place = {
  readonly name: string;
  readonly depth: number;
  readonly references: readonly unknown[];
  readonly isItem?: boolean;
};

/** Keywords that limit a value in the document, but not in the schemas that svc makes. */
const unsaid = ["not", "multipleOf", "contains", "patternProperties", "propertyNames", "if", "dependentSchemas"];

const [choicesMax, enumMax, examplesMax] = [8, 50, 10];

/**
 * Maximum number of parts of `allOf` that are merged for one tool. Without it, parts that refer to the same other parts, level by level,
 * would be merged exponentially often.
 */
const mergesMax = 2_000;
/** Maximum levels of `allOf` inside of each other that are merged. */
const mergeLevelsMax = 9;
/** Maximum number of parts of a merged schema that is remembered. */
const rememberedPartsMax = 64;

/** All types of JSON values. A schema of an imported document that names no type gets all of them, because an output field needs a type. */
const anyTypes = ["object", "array", "string", "number", "boolean", "null"];

/** Converts schemas of one tool. All of them share the limit on the number of schemas. */
export class SchemaConverter {
  readonly #conversion: SchemaConversion;
  readonly #known: KnownSchemas;
  #nodes = 0;
  #merges = 0;

  constructor(conversion: SchemaConversion) {
    this.#conversion = conversion;
    this.#known = knownSchemasOf(conversion.root);
  }

  /**
   * Returns a schema of the imported document in the form that toolkit definitions may have. `name`: name of the described value, used as
   * its description if the document has none.
   */
  convert(schema: unknown, name: string): JsonSchema {
    return this.#convert(schema, { name, depth: 0, references: [] });
  }

  /** Returns the schema at a reference of the document, or the schema itself, with the parts of its `allOf` merged. */
  wholeOf(schema: unknown): DocumentNode {
    const target = resolved(this.#conversion.root, schema);
    return withSiblings(schema, this.#merged(target, [target], 1).whole);
  }

  #convert(given: unknown, place: Place): JsonSchema {
    const { root, limits, part, onCut } = this.#conversion;
    this.#nodes++;
    const base = resolved(root, given);
    const target = formsOfMapping(root, base) ?? base;
    const isCycle = place.references.includes(target);
    // Of a base with forms, the choice is remembered and not the base: each form has the base as a part of its `allOf`.
    const inside = { ...place, references: [...place.references, target] };
    const node = withSiblings(given, isCycle ? target : this.#merged(target, inside.references, 1).whole);
    if (isCycle || place.depth > limits.depth || this.#nodes > limits.nodes) {
      onCut(isCycle ? "cycle" : "size");
      return this.#described(node, openSchema(node), place);
    }
    const choice = this.#choice(node, inside);
    const made = choice ?? this.#plain(this.#withForms(node, inside), inside);
    return part === "input" ? this.#described(node, made, place) : typed(made);
  }

  /**
   * Returns a schema of the document with the parts of its `allOf` merged into one schema, so that `allOf` is no longer needed. `level`: its
   * level, if it is itself such a part.
   */
  #merged(node: DocumentNode, references: Place["references"], level: number): MergedSchema {
    const given = Array.isArray(node["allOf"]) ? node["allOf"] : [];
    if (given.length === 0) return { whole: node, parts: [], levels: 0, count: 0, isWhole: true };
    if (level > mergeLevelsMax) return { whole: node, parts: [], levels: 0, count: 0, isWhole: false };
    const known = this.#known.merged.get(node);
    if (known !== undefined && this.#isValid(known, references, level)) {
      this.#merges += known.count;
      return known;
    }
    const found = this.#mergedParts(node, given.slice(0, 50), { references, level });
    if (found.isWhole && found.parts.length <= rememberedPartsMax) this.#known.merged.set(node, found);
    return found;
  }

  /** True if a new merge of a schema would have the same result as the known one. */
  #isValid({ parts, levels, count }: MergedSchema, references: Place["references"], level: number): boolean {
    return (
      level + levels - 1 <= mergeLevelsMax &&
      this.#merges + count <= mergesMax &&
      !parts.some((part) => references.includes(part))
    );
  }

  #mergedParts(
    node: DocumentNode,
    given: readonly unknown[],
    { references, level }: { readonly references: Place["references"]; readonly level: number },
  ): MergedSchema {
    const { root, onCut } = this.#conversion;
    const { allOf: _allOf, ...own } = node;
    const before = this.#merges;
    const parts: DocumentNode[] = [];
    let [whole, levels, isWhole]: [DocumentNode, number, boolean] = [{}, 1, true];
    for (const part of [...given, own]) {
      const next = part === own ? own : resolved(root, part);
      if (next !== own && references.includes(next)) {
        isWhole = false;
        continue;
      }
      if (++this.#merges > mergesMax) {
        onCut("size");
        return { whole, parts, levels, count: this.#merges - before, isWhole: false };
      }
      const merged = next === own ? undefined : this.#merged(next, [...references, next], level + 1);
      if (merged !== undefined) {
        parts.push(next, ...merged.parts);
        levels = Math.max(levels, merged.levels + 1);
        isWhole &&= merged.isWhole;
      }
      whole = withPart(whole, merged?.whole ?? own);
    }
    return { whole, parts, levels, count: this.#merges - before, isWhole };
  }

  /**
   * Returns the schema of a value that may have one of several forms (`oneOf` or `anyOf`). Returns undefined if the schema has no such
   * choice.
   */
  #choice(node: DocumentNode, place: Place): JsonSchema | undefined {
    const all = [...listOf(node["oneOf"]), ...listOf(node["anyOf"])];
    if (all.length === 0 || isObject(node["properties"])) return undefined;
    const forms = all.filter((form) => !isNull(resolved(this.#conversion.root, form)));
    const isNullable = forms.length < all.length;
    if (forms.length > choicesMax) {
      this.#conversion.onCut("choices");
      return {};
    }
    const [only, ...others] = forms.map((form) => {
      const { description: _text, ...made } = this.#convert(form, { ...place, depth: place.depth + 1 });
      return this.#conversion.part === "input" ? withKind(made, form, node["discriminator"]) : made;
    });
    if (only === undefined) return { type: "null" };
    if (others.length === 0) return isNullable ? withNull(only) : only;
    return { anyOf: [only, ...others, ...(isNullable ? [{ type: "null" }] : [])] };
  }

  /**
   * Returns a schema that has properties next to a choice with the properties of all forms of the choice. None of these is required. Returns
   * any other schema unchanged.
   */
  #withForms(node: DocumentNode, { references }: Place): DocumentNode {
    const { root, onCut } = this.#conversion;
    const given = [...listOf(node["oneOf"]), ...listOf(node["anyOf"])].slice(0, 50);
    if (given.length === 0 || !isObject(node["properties"])) return node;
    const known = this.#known.spread.get(node);
    const own = node["properties"];
    const found = new Map<string, unknown[]>();
    if (known === undefined) {
      const forms = given.map((form) => this.#merged(resolved(root, form), references, 1).whole);
      for (const [name, schema] of forms.flatMap(({ properties }) => Object.entries(objectOf(properties)))) {
        if (!Object.hasOwn(own, name)) found.set(name, [...(found.get(name) ?? []), schema]);
      }
    }
    const further = [...found].map(([name, schemas]) => [name, schemas.length === 1 ? schemas[0] : { anyOf: schemas }]);
    const spread =
      known ?? (further.length === 0 ? node : { ...node, properties: { ...own, ...Object.fromEntries(further) } });
    this.#known.spread.set(node, spread);
    onCut("choices");
    return spread;
  }

  #plain(node: DocumentNode, place: Place): JsonSchema {
    const types = typesOf(node);
    const made: Record<string, unknown> = types === undefined ? {} : { type: types.length === 1 ? types[0] : types };
    this.#addValues(made, node, types);
    if (types === undefined || types.includes("object")) this.#addProperties(made, node, place);
    if (types === undefined || types.includes("array")) this.#addItems(made, node, place);
    if (types === undefined || types.includes("string")) this.#addText(made, node);
    for (const keyword of ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]) {
      if (isSafe(node[keyword]) && hasNumbers(types)) made[keyword] = node[keyword];
    }
    if (this.#conversion.part === "output") return made;
    if (isSecret(node)) made["x-sensitive"] = true;
    for (const keyword of unsaid) if (node[keyword] !== undefined) this.#conversion.onCut(keyword);
    const { additionalProperties: others } = node;
    if (others === false ? place.depth > 0 : isObject(others) && Object.keys(others).length > 0)
      this.#conversion.onCut("additionalProperties");
    return made;
  }

  #addValues(made: Record<string, unknown>, node: DocumentNode, types: readonly string[] | undefined): void {
    const all = this.#enumOf(node["enum"], types);
    const isListed = all.length <= enumMax && this.#conversion.part === "input";
    const values = isListed ? all.filter((value) => this.#isHarmless(value)) : all;
    if (values.length > enumMax) {
      this.#conversion.onCut("enum");
      made["examples"] = values.slice(0, examplesMax).filter((value) => this.#isHarmless(value));
    } else if (values.length > 0 && this.#conversion.part === "input") {
      made["enum"] = types?.includes("null") && !values.includes(null) ? [...values, null] : values;
    } else if (isPlainValue(node["const"]) && this.#conversion.part === "input" && this.#isHarmless(node["const"]))
      made["const"] = node["const"];
    const { default: fallback } = node;
    if (this.#conversion.part === "input" && (Array.isArray(fallback) || isObject(fallback)))
      this.#conversion.onCut("default");
    const fits =
      node["deprecated"] !== true &&
      isPlainValue(fallback) &&
      fallback !== null &&
      (values.length === 0 || values.includes(fallback));
    const isOfTypes = types?.some((type) => isOfType(fallback, type)) === true;
    if (fits && this.#conversion.part === "input" && isOfTypes && this.#isHarmless(fallback))
      made["default"] = fallback;
  }

  #enumOf(given: unknown, types: readonly string[] | undefined): readonly unknown[] {
    if (!Array.isArray(given)) return listOf(given).filter(isPlainValue);
    // In YAML, a version such as 1.10 or a word such as true is a text only in quotation marks, which authors forget.
    const isText = types?.every((type) => type === "string" || type === "null") === true;
    // The number 1.10 has already lost its last digit, so the text is not known.
    if (isText && given.some((value) => typeof value === "number" && !Number.isInteger(value))) {
      if (this.#conversion.part === "input") this.#conversion.onCut("enum");
      return [];
    }
    const memo = this.#known.values[isText ? "texts" : "others"];
    const before = memo.get(given);
    if (before !== undefined) return before;
    const values = isText ? given.map((value) => (typeof value === "object" ? value : String(value))) : given;
    const found = [...new Set(values.filter(isPlainValue))];
    memo.set(given, found);
    return found;
  }

  /** False for a text that gives orders to its reader: models read the values of a schema too. Other values are harmless. */
  #isHarmless(value: unknown): boolean {
    if (this.#known.text(value) !== undefined) return true;
    this.#conversion.onCut("flagged");
    return false;
  }

  #addProperties(made: Record<string, unknown>, node: DocumentNode, place: Place): void {
    const { part, limits, onCut } = this.#conversion;
    const { order, requiredCount, places } = this.#propertiesOf(node);
    const kept: [name: string, schema: JsonSchema][] = [];
    for (const [name, child] of order) {
      const isNeeded = part === "input" && kept.length < requiredCount;
      if (this.#nodes >= limits.nodes && !isNeeded) {
        onCut("size", order.length - kept.length);
        break;
      }
      kept.push([name, this.#convert(child, { ...place, name, depth: place.depth + 1, isItem: false })]);
    }
    if (kept.length === 0) return;
    made["type"] ??= "object";
    const placeOf = ([name]: (typeof kept)[number]) => places.get(name) ?? 0;
    made["properties"] = Object.fromEntries(kept.toSorted((one, other) => placeOf(one) - placeOf(other)));
    if (part === "output") return;
    const needed = kept.slice(0, requiredCount).map(([name]) => name);
    if (needed.length > 0) made["required"] = needed;
    for (const keyword of ["minProperties", "maxProperties"]) if (isCount(node[keyword])) made[keyword] = node[keyword];
  }

  #propertiesOf(node: DocumentNode): KnownProperties {
    const { part, root } = this.#conversion;
    const given = objectOf(node["properties"]);
    const known = this.#known.properties[part];
    const before = known.get(given);
    if (before !== undefined) return before;
    const hidden = part === "input" ? "readOnly" : "writeOnly";
    const required = new Set(listOf(node["required"]));
    const all = Object.entries(given).filter(([name, child]) => {
      return (
        isName(name) &&
        withSiblings(child, resolved(root, child))[hidden] !== true &&
        !(part === "output" && isLink(name))
      );
    });
    const needed = all.filter(([name]) => required.has(name));
    const found = {
      order: [...needed, ...all.filter(([name]) => !required.has(name))],
      requiredCount: needed.length,
      places: new Map(all.map(([name], index) => [name, index])),
    };
    known.set(given, found);
    return found;
  }

  #addItems(made: Record<string, unknown>, node: DocumentNode, place: Place): void {
    if (isObject(node["items"])) {
      made["items"] = this.#convert(node["items"], { ...place, depth: place.depth + 1, isItem: true });
    }
    if (this.#conversion.part === "output") return;
    for (const keyword of ["minItems", "maxItems"]) if (isCount(node[keyword])) made[keyword] = node[keyword];
    if (node["uniqueItems"] !== true) return;
    if (holdsScalars(objectOf(made["items"]))) made["uniqueItems"] = true;
    else this.#conversion.onCut("uniqueItems");
  }

  #addText(made: Record<string, unknown>, node: DocumentNode): void {
    const { format, pattern } = node;
    if (typeof format === "string" && isKnownFormat(format) && !["password", "binary", "byte"].includes(format))
      made["format"] = format;
    if (this.#conversion.part === "output") return;
    for (const keyword of ["minLength", "maxLength"]) if (isCount(node[keyword])) made[keyword] = node[keyword];
    if (typeof pattern === "string" && this.#takesPattern(pattern)) made["pattern"] = pattern;
  }

  /** True if the pattern is valid for RE2, and the patterns of the whole toolkit (the tools of one app) stay within their limit. */
  #takesPattern(pattern: string): boolean {
    const { patterns, onCut } = this.#conversion;
    if (patterns.known.has(pattern)) return true;
    const size = this.#known.sizeOfPattern(pattern);
    if (size > patterns.left) {
      onCut("pattern");
      return false;
    }
    patterns.left -= size;
    patterns.known.add(pattern);
    return true;
  }

  #described(node: DocumentNode, made: JsonSchema, { name, isItem = false }: Place): JsonSchema {
    if (this.#conversion.part === "output") return typed(made);
    const text = this.#known.text(node["description"] ?? node["title"]);
    const named = this.#known.words(name);
    if (text === undefined || named === undefined) this.#conversion.onCut("flagged");
    if (text !== undefined && text.length >= 3) return { ...made, description: text };
    // Only a property needs a description. For an item of a list, its list describes it.
    if (isItem) return made;
    return {
      ...made,
      description: named !== undefined && named.length >= 3 ? named : `Argument ${named ?? ""}`.trim(),
    };
  }
}

/**
 * Returns a schema with the keywords of another one in addition. Both may have properties and required names; the result has those of both.
 */
function withPart(whole: DocumentNode, part: DocumentNode): DocumentNode {
  const [own, further] = [objectOf(whole["properties"]), objectOf(part["properties"])];
  // A part may narrow a property of another part, and both apply.
  const both = Object.keys(further).filter((name) => Object.hasOwn(own, name) && own[name] !== further[name]);
  const narrowed = Object.fromEntries(both.map((name) => [name, { allOf: [own[name], further[name]] }]));
  const properties = { ...own, ...further, ...narrowed };
  const required = [...listOf(whole["required"]), ...listOf(part["required"])];
  return {
    ...whole,
    ...part,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

/**
 * Returns the types that a schema names or that its other keywords imply; undefined if there are none. If the schema is `nullable` (OpenAPI
 * 3.0), the types include `null`.
 */
export function typesOf(node: DocumentNode): readonly string[] | undefined {
  const named = listOf(node["type"]).filter(isTypeName);
  const found = named.length > 0 ? named : impliedTypes(node);
  if (found.length === 0) return undefined;
  return [...new Set(node["nullable"] === true ? [...found, "null"] : found)];
}

function isTypeName(type: unknown): type is string {
  return typeof type === "string" && (type === "integer" || anyTypes.includes(type));
}

function impliedTypes(node: DocumentNode): string[] {
  if (isObject(node["properties"])) return ["object"];
  if (isObject(node["items"])) return ["array"];
  const kinds = listOf(node["enum"])
    .filter(isPlainValue)
    .map((value) => (value === null ? "null" : typeof value));
  return [...new Set(kinds)];
}

/** True if the schema allows only texts, numbers and booleans, which are cheap to compare. */
function holdsScalars(schema: DocumentNode): boolean {
  const types = typesOf(schema) ?? [];
  return types.length > 0 && types.every((type) => type !== "object" && type !== "array");
}

function openSchema(node: DocumentNode): JsonSchema {
  const types = typesOf(node);
  return types === undefined ? {} : { type: types.length === 1 ? types[0] : types };
}

/**
 * Returns the schema of an output field with a type, because every output field needs one. If the schema has no type, it gets all types.
 * Removes the list of allowed values (`enum`).
 */
function typed(made: JsonSchema): JsonSchema {
  const { enum: _values, ...others } = made;
  return ["type", "anyOf"].some((keyword) => Object.hasOwn(made, keyword)) ? others : { ...others, type: anyTypes };
}

function withNull(schema: JsonSchema): JsonSchema {
  if (Array.isArray(schema["anyOf"])) return { ...schema, anyOf: [...schema["anyOf"], { type: "null" }] };
  const { const: only, ...others } = schema;
  const all = Array.isArray(schema["enum"]) ? schema["enum"] : only === undefined ? undefined : [only];
  const values = all === undefined ? {} : { enum: [...new Set([...all, null])] };
  if (schema["type"] === undefined) return { ...others, ...values };
  return { ...others, type: [...new Set([...listOf(schema["type"]), "null"])], ...values };
}

/**
 * Returns a choice of the schemas that the discriminator of a base schema maps its values to. A document need not list them in the base:
 * each of them refers to the base. Undefined if the schema lists its forms itself, or maps no values.
 */
function formsOfMapping(root: DocumentNode, base: DocumentNode): DocumentNode | undefined {
  const mapping = Object.values(objectOf(objectOf(base["discriminator"])["mapping"]));
  if (mapping.length === 0 || base["oneOf"] !== undefined || base["anyOf"] !== undefined) return undefined;
  const known = mappedForms.get(base);
  if (known !== undefined) return known;
  const references = mapping.filter((target) => typeof target === "string").map(referenceOf);
  const forms = [...new Set(references)].filter((reference) => {
    const form = reference.startsWith("#/") ? resolved(root, { $ref: reference }) : base;
    return form !== base && Object.keys(form).length > 0;
  });
  const { title, description, discriminator } = base;
  const made =
    forms.length === 0 ? undefined : { title, description, discriminator, oneOf: forms.map(($ref) => ({ $ref })) };
  if (made !== undefined) mappedForms.set(base, made);
  return made;
}

/** The choice that each base schema with a mapping stands for. */
const mappedForms = new WeakMap<DocumentNode, DocumentNode>();

/** Returns the reference to a schema that a discriminator's mapping names by a reference or by its name alone. */
function referenceOf(target: string): string {
  return /^[\w.-]+$/.test(target) && !/\.(?:json|ya?ml)$/.test(target) ? `#/components/schemas/${target}` : target;
}

/** Returns a form of a choice with the values that a discriminator maps to this form as the only values of its property. */
function withKind(made: JsonSchema, form: unknown, discriminator: unknown): JsonSchema {
  const { propertyName, mapping } = objectOf(discriminator);
  const name = String(propertyName ?? "");
  const property = objectOf(objectOf(made["properties"])[name]);
  const { $ref } = objectOf(form);
  const values = Object.entries(objectOf(mapping))
    .filter(([, target]) => typeof target === "string" && referenceOf(target) === $ref)
    .map(([value]) => value);
  const isText = typesOf(property)?.includes("string") === true && property["const"] === undefined;
  if (values.length === 0 || !isText) return made;
  const { enum: _values, default: _default, ...others } = property;
  return { ...made, properties: { ...objectOf(made["properties"]), [name]: { ...others, enum: values } } };
}

function isNull(node: DocumentNode): boolean {
  return (
    node["type"] === "null" ||
    node["const"] === null ||
    (Array.isArray(node["enum"]) && node["enum"].length === 1 && node["enum"][0] === null)
  );
}

function isSecret({ format, writeOnly }: DocumentNode): boolean {
  return format === "password" || writeOnly === true;
}

/**
 * True for names of fields that contain links to other operations of the app. Such fields are left out of results, because they give no
 * further information.
 */
function isLink(name: string): boolean {
  return (
    name === "_links" ||
    (/_url$/.test(name) && !/^(?:html|web|download|public|image|avatar|redirect|callback|file|site)_url$/.test(name))
  );
}

function isName(name: string): boolean {
  return name !== "" && name.length <= 200 && name.isWellFormed() && !/[\p{Cc}\p{Cf}]/u.test(name);
}

function hasNumbers(types: readonly string[] | undefined): boolean {
  return types === undefined || types.includes("integer") || types.includes("number");
}

function isSafe(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER;
}

function isCount(value: unknown): boolean {
  return isSafe(value) && Number.isInteger(value) && value >= 0;
}

/** True for a text, number, boolean or null that svc can copy unchanged into a toolkit definition. */
function isPlainValue(value: unknown): boolean {
  if (typeof value === "string") return value.length <= 200 && value.isWellFormed() && !/[\p{Cc}\p{Cf}]/u.test(value);
  return value === null || typeof value === "boolean" || isSafe(value);
}

function isOfType(value: unknown, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

/** Returns a value if it is an object. Returns an empty object for any other value. */
export function objectOf(value: unknown): DocumentNode {
  return isObject(value) ? value : {};
}

/** Returns a value as a list: a list unchanged, undefined as an empty list, and any other value as a list with this one item. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
