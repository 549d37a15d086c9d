import { formatValue, isObject } from "@svc/core";
import type { FaultList } from "../faults.ts";
import { type JsonObject, type JsonValue, type Path, pointerOf } from "../json.ts";
import type { TextTemplate, ValueTemplate } from "../template.ts";
import { hasDoubledPath, looksLikeTemplate, namesPlace, rightForm } from "./expression.ts";
import { kindText } from "./name.ts";
import { parsePath, parseTemplate, parseText } from "./reference.ts";
import type { ShapeNode } from "./shape.ts";
import { hintOfForeign, isForeignForm, meantForm, pathOfWords, textForm } from "./value-advice.ts";

// Reads the values in a program, for example the arguments of a call. If the author used the form of another template language, such as
// `${name}`, the fault shows the correct form.

/** Hint for a value that is not valid. It lists all forms of a value, and is used if no other hint describes the author's mistake. */
const valueForms =
  'write {"$ref": "path"}, {"$text": "… {path} …"}, {"$cel": "expression"} or {"$secret": "name"}; {"$literal": …} is a value taken unchanged';

/** Reads a JSON value that may contain references. Records faults. Returns undefined only if the value is absent. */
export function readValue({ value, path }: ShapeNode, faults: FaultList): ValueTemplate | undefined {
  if (value === undefined) return undefined;
  lookForTemplates(value, path, faults);
  return parseTemplate(value, path, (at, kind, message, found) => {
    const meant = kind === "shape" ? meantForm(found) : undefined;
    if (kind === "shape") {
      faults.add("PROGRAM_MALFORMED", at, message, meant === undefined ? valueForms : writeForm(at, meant));
    } else syntaxFault(faults, at, message, found);
  });
}

/** Returns a hint that tells the author what to write. If `meant` replaces a whole `$text`, the hint says so. */
function writeForm(at: Path, meant: string): string {
  const isWhole = at.at(-1) === "$text" && meant.startsWith('{"$cel"');
  return `${isWhole ? 'instead of the whole {"$text": …} ' : ""}write ${meant}`;
}

/**
 * Reads a text that may contain references such as `{path}`. Returns the parsed template. Returns undefined and records a fault if the text
 * is malformed.
 */
export function readText(text: string, path: Path, faults: FaultList): TextTemplate | undefined {
  if (hasDoubledPath(text)) templateFault(faults, path, doubledPath, text);
  const template = parseText(text, pointerOf(path));
  if (!("fault" in template)) return template;
  syntaxFault(faults, path, template.fault, undefined);
  return undefined;
}

/** Records a fault for every plain text that looks like a template. Texts inside `$literal` are accepted. */
function lookForTemplates(value: JsonValue, path: Path, faults: FaultList): void {
  if (typeof value === "string") {
    if (looksLikeTemplate(value))
      templateFault(faults, path, "looks like a template, but would be sent unchanged", value);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    const items: readonly JsonValue[] = value;
    for (const [index, item] of items.entries()) lookForTemplates(item, [...path, index], faults);
    return;
  }
  const fields = value as JsonObject;
  if (Object.hasOwn(fields, "$literal") || Object.hasOwn(fields, "$cel")) return;
  if (isForeignForm(fields)) {
    const message = `is ${kindText(fields)}, which is not a form of a value here and would be sent unchanged`;
    const meant = meantForm(fields);
    const hint = meant === undefined ? valueForms : `write ${meant}; if you mean the object itself, {"$literal": …}`;
    faults.addYounger("PROGRAM_TEMPLATE_LITERAL", path, message, hint);
    return;
  }
  if (typeof fields.$text === "string") {
    if (hasDoubledPath(fields.$text)) templateFault(faults, [...path, "$text"], doubledPath, fields.$text);
  }
  for (const [name, item] of Object.entries(fields)) {
    if (isPathOfStates(name, item)) {
      const message = `is ${formatValue(item)}, a path of another language`;
      const meant = JSON.stringify({ [name.slice(0, -2)]: { $ref: pathOfWords(item) ?? `row.${item.slice(2)}` } });
      faults.addYounger("PROGRAM_TEMPLATE_LITERAL", [...path, name], message, `write ${meant.slice(1, -1)}`);
    } else if (name !== "$ref" && name !== "$text") lookForTemplates(item, [...path, name], faults);
  }
}

/** True if a field has the form that AWS Step Functions uses for a path: `"text.$": "$.title"`. */
function isPathOfStates(name: string, value: JsonValue): value is string {
  return name.endsWith(".$") && name.length > 2 && typeof value === "string" && value.startsWith("$.");
}

const doubledPath = "has a path in double braces, which mean one literal brace: its name would be sent";

/**
 * Adds a fault for each text in a program's constants that looks like a path of the program, such as `{row.name}`. svc would send the text
 * itself, not the value at the path.
 */
export function lookForPlaces(value: JsonValue, path: Path, faults: FaultList): void {
  if (typeof value === "string") {
    if (!namesPlace(value)) return;
    const message = "looks like a template, but params are used unchanged";
    faults.addYounger(
      "PROGRAM_TEMPLATE_LITERAL",
      path,
      message,
      `in the place that uses the value, ${rightForm(value)}`,
    );
  } else if (Array.isArray(value)) {
    const items: readonly JsonValue[] = value;
    for (const [index, item] of items.entries()) lookForPlaces(item, [...path, index], faults);
  } else if (isObject(value)) {
    if (typeof value["$secret"] === "string") {
      const message = "names a secret, but params are used unchanged";
      faults.addYounger(
        "PROGRAM_TEMPLATE_LITERAL",
        path,
        message,
        'write {"$secret": "name"} in the place that uses the value',
      );
    }
    for (const [name, item] of Object.entries(value)) lookForPlaces(item, [...path, name], faults);
  }
}

function templateFault(faults: FaultList, path: Path, message: string, text: string): void {
  faults.addYounger("PROGRAM_TEMPLATE_LITERAL", path, message, rightForm(text));
}

/**
 * Records a syntax fault of a `$ref` or `$text`. `found`: what the author wrote there. If possible, the hint shows the correct form of this
 * text.
 */
function syntaxFault(faults: FaultList, path: Path, message: string, found: JsonValue | undefined): void {
  if (path.at(-1) === "$ref" && typeof found === "string") {
    faults.add("PROGRAM_REFERENCE_INVALID", path, message, hintOfPath(found));
    return;
  }
  const foreign = typeof found === "string" ? hintOfForeignText(found) : undefined;
  if (foreign !== undefined) {
    faults.add("PROGRAM_REFERENCE_INVALID", path, message, foreign);
    return;
  }
  const meant = typeof found === "string" ? textForm(found) : undefined;
  const isText = path.at(-1) === "$text";
  const whole = '; what is computed takes the place of the whole {"$text": …}, as {"$cel": "expression"}';
  const hint = `start with input, params, steps.<id>, row, output, calls.<id> or rows.<set>; a literal brace is {{${isText ? whole : ""}`;
  faults.add("PROGRAM_REFERENCE_INVALID", path, message, meant === undefined ? hint : writeForm(path, meant));
}

/**
 * Returns the first path in braces that has the form of another language (for example `event.id` in `{event.id}`). Returns undefined if the
 * text has none.
 */
function foreignIn(text: string): string | undefined {
  const [, found] = /\{\s*((?:events?|fire)\.[\w.[\]]{1,200}|rows\.\w{1,64}[.[][\w.[\]]{1,200})\s*\}/.exec(text) ?? [];
  return found;
}

/**
 * Returns a hint for a `$text` that contains a path in the form of another language (for example `{event.id}`): the correct form to write.
 * Returns undefined if the text contains no such path.
 */
function hintOfForeignText(text: string): string | undefined {
  const found = foreignIn(text);
  return found === undefined ? undefined : hintOfForeign(found);
}

/** Returns the hint for a path whose first name is unknown. The hint says what the author should write instead. */
function hintOfPath(text: string): string {
  const foreign = hintOfForeign(text);
  if (foreign !== undefined) return foreign;
  const meant = pathOfWords(text);
  if (meant !== undefined) return `write ${JSON.stringify(meant)}`;
  if (/^\$?(?:env|process|vars?|variables|secrets?|context|global)\b/i.test(text)) {
    return 'name an input or a param: input.<name>, declared in inputSchema, or params.<name>; write a secret by itself, as {"$secret": "<name>"}';
  }
  const [first, ...rest] = parsePath(text.trim()) ?? [];
  if (first === "now") return 'write {"$cel": "now"} for the time, {"$cel": "string(now)"} for its text';
  if (typeof first === "string" && rest.length > 0) {
    const tail = rest.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
    return `write "steps.${first}${tail}" for the answer of step ${first}, "row${tail}" for a field of the current row, "input.${first}${tail}" for an input of the job`;
  }
  return "start with input, params, steps.<id>, row, output, calls.<id> or rows.<set>";
}
