import { call, type FaultText, formatDuration, formatValue, isObject, parseDuration, text } from "@svc/core";
import type { FaultList } from "../faults.ts";
import type { JsonObject, JsonValue, Path } from "../json.ts";
import { type Bounds, listed } from "../limits.ts";
import type { FieldPlaces } from "./field-places.ts";
import type { ObjectForm } from "./form.ts";
import { meantField, schemaPath } from "./shape-words.ts";

/** Fields of other workflow languages that do not exist in a program, each with a hint how to get the same result. */
const strays: readonly (readonly [RegExp, FaultText])[] = [
  [
    /^(next|end|start|startat|dependson|depends_on|needs|after|before|runafter)$/i,
    "leave it out: steps run in the order in which they are listed",
  ],
  [
    /^(schedule|cron|every|trigger|on|triggers|timezone)$/i,
    text`leave it out: a program that starts by itself is a standing program; make one of this program with ${call("CreateStandingProgram")}`,
  ],
  [/^(as|item|itemname|var|iterator)$/i, "leave it out: the current row is row, as in {row.title}"],
  [
    /^(init|initial|fn|reducer|accumulator)$/i,
    'leave it out: as names the values to make of the rows, such as {"total": "sum value"}',
  ],
  [
    /^(order|direction|desc|asc)$/i,
    'leave it out: write the order next to its field, as in {"field": "value", "order": "desc"}',
  ],
  [
    /^(onerror|on_error|continueonerror|continue_on_error|ignoreerrors)$/i,
    'leave it out here: rows of a map may fail with "tolerate": {"percent": 100} next to its do; put any other step without onError into an if that has one, {"id": "safe", "if": "true", "then": […], "onError": {"then": "continue"}}',
  ],
  [/^(env|environment|secrets)$/i, 'leave it out: write a secret where it is sent, as {"$secret": "<name>"}'],
];

/** Fields that authors write at the wrong place of a program, each with the right place. */
const belonging: readonly (readonly [RegExp, string])[] = [
  [
    /^(points|saga|limits|approval|result|inputschema|params)$/,
    'write it next to steps, such as {"steps": […], "NAME": …}',
  ],
  [
    /^(keep|key|from|page)$/,
    'write it in rows, such as "rows": {"from": "items[]", "keep": ["id"], "page": {"max": 20}}',
  ],
  [/^confirm$/, 'write it in args, such as "args": {"confirm": true}'],
];

/** A value that is to be read from a document, and its path. The value is undefined if the document has none there. */
export type ShapeNode = { readonly value: JsonValue | undefined; readonly path: Path };

/**
 * Reads values of a document. If a value does not have the expected form, records a fault and returns undefined, as for an absent value.
 */
export type ShapeReader = {
  readonly faults: FaultList;
  /** Reads an object. Records missing required fields and unknown fields, and still returns the fields. */
  fields(node: ShapeNode, form: ObjectForm): ShapeFields | undefined;
  text(
    node: ShapeNode,
    form: { readonly max: number; readonly min?: number; readonly pattern?: RegExp; readonly hint?: FaultText },
  ): string | undefined;
  oneOf<T extends string>(node: ShapeNode, values: readonly T[]): T | undefined;
  number(node: ShapeNode, bounds: Bounds & { readonly isWhole?: boolean }): number | undefined;
  flag(node: ShapeNode): boolean | undefined;
  duration(node: ShapeNode, bounds: Bounds): number | undefined;
  object(node: ShapeNode, example?: unknown): JsonObject | undefined;
  /** Reads the items of a list. If the list is too long, returns only the allowed number of items. */
  items(node: ShapeNode, count: Bounds, example?: readonly JsonValue[]): readonly ShapeNode[] | undefined;
};

/**
 * The fields of an object in a document. `at`: returns the value of a field by name, with its path; the value is undefined if the field is
 * absent. `has`: true if the field exists.
 */
export type ShapeFields = { at(name: string): ShapeNode; has(name: string): boolean };

/** Maximum number of unknown fields of an object that are reported one by one. */
const unknownMax = 20;

/**
 * Describes a kind of document for the code that reads it. `schema`: the address of its JSON Schema. `places`: returns a hint where a
 * misplaced field belongs.
 */
export type ReaderDocument = { readonly schema: string; readonly places: FieldPlaces };

const programDocument: ReaderDocument = { schema: schemaPath, places: strayHint };

/**
 * Creates a reader of the values in a document. The reader records faults in the given list; by default, it is for documents that are
 * programs.
 */
export function createShapeReader(
  faults: FaultList,
  { schema, places }: ReaderDocument = programDocument,
): ShapeReader {
  const malformed = ({ path }: ShapeNode, message: string, hint: FaultText) =>
    faults.add("PROGRAM_MALFORMED", path, message, hint);
  const misfit = (node: ShapeNode, what: string, hint: FaultText = `write ${what}`) => {
    if (node.value !== undefined) malformed(node, `is ${formatValue(node.value)}, not ${what}`, hint);
    return undefined;
  };
  const told = new Set<ObjectForm["examples"]>();
  /**
   * Returns the description of an object of the program for the hint of a fault: which fields the object has. The first hint about such an
   * object also shows a complete example.
   */
  const shapeOnce = (form: ObjectForm) => {
    if (told.has(form.examples)) {
      return `use ${[...Object.keys(form.required), ...Object.keys(form.optional)].join(", ")}`;
    }
    told.add(form.examples);
    return shapeText(form, schema);
  };
  return {
    faults,
    fields(node, form) {
      const { required, optional } = form;
      const { value, path } = node;
      if (!isObject(value)) return misfit(node, "an object", `write an object: ${shapeOnce(form)}`);
      const known = [...Object.keys(required), ...Object.keys(optional)];
      const missing = Object.keys(required).filter((name) => !Object.hasOwn(value, name));
      const unknown = Object.keys(value).filter((name) => !known.includes(name));
      if (unknown.length > unknownMax) {
        malformed(node, `has ${unknown.length - unknownMax} more unknown fields`, `use ${known.join(", ")}`);
      }
      // A misspelled field is read as the field that was probably meant, so that faults inside it are reported at the same time.
      const aliases = new Map<string, string>();
      for (const name of unknown.slice(0, unknownMax)) {
        const free = known.filter((field) => !Object.hasOwn(value, field) && !aliases.has(field));
        const meant =
          meantField(
            name,
            missing.filter((field) => !aliases.has(field)),
          ) ?? meantField(name, free);
        if (meant !== undefined) aliases.set(meant, name);
        const stray = places(name);
        const hint =
          meant !== undefined
            ? `did you mean ${meant}? ${shapeOnce(form)}`
            : stray === undefined
              ? shapeOnce(form)
              : text`${stray}; ${shapeOnce(form)}`;
        malformed({ value, path: [...path, name] }, `${formatValue(name)} is not a known field`, hint);
      }
      for (const name of missing.filter((field) => !aliases.has(field)))
        malformed(node, `lacks ${name}`, `add ${name}: ${shapeOnce(form)}`);
      return {
        at(field) {
          const name = aliases.get(field) ?? field;
          return { value: Object.hasOwn(value, name) ? value[name] : undefined, path: [...path, name] };
        },
        has: (field) => Object.hasOwn(value, field) || aliases.has(field),
      };
    },
    text(node, { min = 1, max, pattern, hint }) {
      const { value } = node;
      if (typeof value !== "string") return misfit(node, "a text", hint);
      if (value.length < min || value.length > max) {
        malformed(node, `has ${value.length} characters`, hint ?? `write ${min} to ${max} characters`);
        return undefined;
      }
      if (pattern?.test(value) === false) {
        malformed(node, `is ${formatValue(value)}, which has the wrong form`, hint ?? `match ${pattern.source}`);
        return undefined;
      }
      return value;
    },
    oneOf(node, values) {
      const found = values.find((value) => value === node.value);
      return found ?? misfit(node, `one of ${values.join(", ")}`);
    },
    number(node, { min, max, isWhole = true }) {
      const { value } = node;
      const what = `${isWhole ? "a whole number" : "a number"} from ${min} to ${max}`;
      const isFit = typeof value === "number" && value >= min && value <= max && (!isWhole || Number.isInteger(value));
      return isFit ? value : misfit(node, what);
    },
    flag(node) {
      return typeof node.value === "boolean" ? node.value : misfit(node, "true or false");
    },
    duration(node, bounds) {
      if (node.value === undefined) return undefined;
      const ms = readDuration(node.value);
      if (ms === undefined)
        return misfit(node, "a duration", 'write a whole number and its unit, such as "30s", "10m" or "24h"');
      if (ms >= bounds.min && ms <= bounds.max) return ms;
      const range = `${formatDuration(bounds.min)} to ${formatDuration(bounds.max)}`;
      faults.add(
        "PROGRAM_LIMIT_INVALID",
        node.path,
        `is ${formatValue(node.value)}, outside of its range`,
        `write ${range}`,
      );
      return undefined;
    },
    object(node, example) {
      const hint = example === undefined ? "write an object" : `write an object, such as ${JSON.stringify(example)}`;
      return isObject(node.value) ? node.value : misfit(node, "an object", hint);
    },
    items(node, { min, max }, example) {
      const { value, path } = node;
      if (isObject(value)) {
        if (isNamed(value)) {
          const [name = ""] = Object.keys(value);
          return misfit(
            node,
            "a list",
            `write a list of objects, each with its name: [{"id": ${JSON.stringify(name)}, …}]`,
          );
        }
        const such =
          example === undefined ? "put it into a list: [{…}]" : `write a list, such as ${JSON.stringify(example)}`;
        misfit(node, "a list", such);
        return example === undefined ? [node] : undefined;
      }
      if (!Array.isArray(value)) {
        const such = example === undefined ? ": […]" : `, such as ${JSON.stringify(example)}`;
        return misfit(node, "a list", `write a list${such}`);
      }
      const items: readonly JsonValue[] = value;
      if (items.length < min || items.length > max) {
        malformed(
          node,
          `has ${items.length} items`,
          max === Number.MAX_SAFE_INTEGER
            ? `write at least ${min}, or leave it out if it is optional`
            : `write ${min} to ${max} of them`,
        );
      }
      return items.slice(0, max).map((item, index) => ({ value: item, path: [...path, index] }));
    },
  };
}

/**
 * Returns true if all values of an object in a program are objects. The author of the program has then probably written objects with names
 * in the place of a list.
 */
function isNamed(value: JsonObject): boolean {
  const items = Object.values(value);
  return (
    items.length > 0 &&
    items.every((item) => isObject(item)) &&
    !Object.keys(value).some((name) => name.startsWith("$"))
  );
}

function readDuration(value: JsonValue): number | undefined {
  if (typeof value !== "string") return undefined;
  try {
    return parseDuration(value);
  } catch {
    // The library throws only for a text that is not a duration.
    return undefined;
  }
}

/**
 * Returns an object's form as text for a hint: its required and optional fields, and an example. `schema`: the address of the whole JSON
 * Schema.
 */
function shapeText({ required, optional, examples }: ObjectForm, schema: string): string {
  const must = Object.keys(required);
  const may = Object.keys(optional);
  const parts = [
    ...(must.length === 0 ? [] : [`it has ${listed(must, "and")}`]),
    ...(may.length === 0 ? [] : [`${must.length === 0 ? "it" : "and"} may have ${listed(may, "and")}`]),
  ];
  return `${parts.join(" ")}, such as ${JSON.stringify(examples[0])}; see ${schema} for all fields`;
}

/** Returns the hint for a field that exists in another workflow language but not in a program. Returns undefined for any other field. */
function strayHint(name: string): FaultText | undefined {
  const short = name.slice(0, 40);
  const place = belonging.find(([pattern]) => pattern.test(short.toLowerCase()))?.[1].replace("NAME", short);
  return place ?? strays.find(([pattern]) => pattern.test(short))?.[1];
}
