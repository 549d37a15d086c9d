import { isDeepStrictEqual } from "node:util";
import { isObject } from "@svc/core";
import { type AccessClass, accessClasses } from "../read/documents.ts";

/** The definition of a toolkit (an app with its tools) as an object: the form that PublishToolkit takes as JSON text. */
export type DefinitionObject = {
  readonly toolkit: Readonly<Record<string, unknown>>;
  readonly tools: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/**
 * A tool that only the newer of two definitions has. `isFlagged`: true if its description is suspicious, because it gives orders to its
 * reader, such as an AI model.
 */
export type AddedTool = {
  readonly name: string;
  readonly class: string;
  readonly description: string;
  readonly isFlagged: boolean;
};

/**
 * A difference between two definitions of a tool. `tool`: empty for the toolkit itself. `field`: the changed part, such as `class`,
 * `input.limit` or `request.path`. `before`, `after`: both values, as text or as JSON; empty if the part is absent. `isBreaking`: true if
 * calls that worked before may fail now, or need a confirmation.
 */
export type AlteredPart = {
  readonly tool: string;
  readonly field: string;
  readonly before: string;
  readonly after: string;
  readonly isBreaking: boolean;
  readonly isFlagged: boolean;
};

/**
 * Differences between two definitions of a toolkit. `count`: tools that differ, plus one if the toolkit's texts differ, plus one if its
 * origin differs. The origin is the base URL, the account variables and the authentication. `originBefore`, `originAfter`: both origins as
 * JSON; empty if they are equal. `leftOff`: number of altered parts that are not listed because the list would be too long. `leftOffTools`:
 * the tools with such parts; absent in differences that an older svc stored. `flagged`: names of tools that differ and are suspicious.
 */
export type DefinitionDifferences = {
  readonly added: readonly AddedTool[];
  readonly gone: readonly string[];
  readonly altered: readonly AlteredPart[];
  readonly leftOff: number;
  readonly leftOffTools?: readonly string[];
  readonly originBefore: string;
  readonly originAfter: string;
  readonly count: number;
  readonly flagged: readonly string[];
};

/** Parts of a toolkit that decide where calls and credentials are sent. */
export const originFields = ["baseUrl", "account", "auth", "always", "mcp"] as const;

/** Maximum characters of one value, and of all listed values together, so that a list of differences stays quick to read and to store. */
const [valueMax, valuesMax] = [800, 300_000];

/**
 * Returns the differences between the accepted definition of a toolkit and a newer one. `flagged`: names of tools whose newer texts are
 * suspicious.
 */
export function compareDefinitions(
  before: DefinitionObject,
  after: DefinitionObject,
  flagged: ReadonlySet<string> = new Set(),
): DefinitionDifferences {
  const added = Object.entries(after.tools).filter(([name]) => !Object.hasOwn(before.tools, name));
  const gone = Object.keys(before.tools).filter((name) => !Object.hasOwn(after.tools, name));
  const altered = [
    ...partsOf("", withoutOrigin(before.toolkit), withoutOrigin(after.toolkit)),
    ...Object.entries(before.tools).flatMap(([name, tool]) => {
      const newer = memberOf(after.tools, name);
      return newer === undefined ? [] : partsOf(name, tool, newer);
    }),
  ].map((part) => ({ ...part, isFlagged: flagged.has(part.tool) }));
  const sorted = sortedParts(altered);
  const [originBefore, originAfter] = [originOf(before), originOf(after)];
  const isMoved = originBefore !== originAfter;
  const listed = listedParts(sorted);
  return {
    added: added.map(([name, tool]) => ({
      name,
      class: textOfValue(tool["class"]),
      description: textOfValue(tool["description"]),
      isFlagged: flagged.has(name),
    })),
    gone,
    altered: listed,
    leftOff: altered.length - listed.length,
    leftOffTools: [...new Set(sorted.slice(listed.length).map(({ tool }) => tool))],
    originBefore: isMoved ? originBefore : "",
    originAfter: isMoved ? originAfter : "",
    flagged: [...flagged].filter(
      (name) => added.some(([other]) => other === name) || altered.some(({ tool }) => tool === name),
    ),
    count: added.length + gone.length + new Set(altered.map(({ tool }) => tool)).size + (isMoved ? 1 : 0),
  };
}

function originOf({ toolkit }: DefinitionObject): string {
  return JSON.stringify(Object.fromEntries(originFields.map((field) => [field, memberOf(toolkit, field)])));
}

function withoutOrigin(toolkit: DefinitionObject["toolkit"]): DefinitionObject["toolkit"] {
  return Object.fromEntries(
    Object.entries(toolkit).filter(([field]) => !originFields.some((other) => other === field)),
  );
}

type Part = Omit<AlteredPart, "isFlagged">;
type Values = readonly [before: unknown, after: unknown];

function partsOf(tool: string, before: DefinitionObject["toolkit"], after: DefinitionObject["toolkit"]): Part[] {
  return differing(before, after).flatMap(([field, values]) => {
    if (tool !== "" && (field === "input" || field === "output")) return schemaParts(tool, field, values);
    if (tool !== "" && field === "request") {
      return differing(objectOf(values[0]), objectOf(values[1])).map(([part, both]) =>
        partOf(tool, `request.${part}`, both, decisiveParts.has(part)),
      );
    }
    return [partOf(tool, field, values, tool !== "" && isBreakingField(field, values))];
  });
}

/** Returns a member of an object; undefined for names such as `constructor` that each object inherits. */
export function memberOf<Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Parts of a tool's request that decide which operation of the app a call reaches. */
const decisiveParts = new Set(["method", "path"]);

/** Returns the members that differ, with both values. An absent value is undefined. */
function differing(before: DefinitionObject["toolkit"], after: DefinitionObject["toolkit"]): [string, Values][] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => {
    const values = [memberOf(before, name), memberOf(after, name)] as const;
    return isDeepStrictEqual(values[0], values[1]) ? [] : [[name, values] as [string, Values]];
  });
}

function schemaParts(tool: string, field: string, [before, after]: Values): Part[] {
  const [old, newer] = [objectOf(before), objectOf(after)];
  return differing(old, newer).flatMap(([keyword, values]) => {
    if (keyword !== "properties") {
      const isStricter = field === "input" && (keyword !== "required" || demandsMore(values));
      return [partOf(tool, `${field}.${keyword}`, values, isStricter)];
    }
    return differing(objectOf(values[0]), objectOf(values[1])).map(([name, both]) =>
      partOf(tool, `${field}.${name}`, both, isBreakingSchema(both)),
    );
  });
}

function demandsMore([before, after]: Values): boolean {
  const known = new Set(Array.isArray(before) ? before : []);
  return Array.isArray(after) && after.some((name) => !known.has(name));
}

/**
 * True if a changed argument may refuse values that it took before, or if a changed field of a result may have other values. New arguments
 * and fields break nothing; `required` is a difference of its own.
 */
function isBreakingSchema([before, after]: Values): boolean {
  return before !== undefined && !isDeepStrictEqual(withoutTexts(before), withoutTexts(after));
}

/** Returns a schema without the keywords that no call depends on, at all levels. */
function withoutTexts(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutTexts);
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).filter(([keyword]) => !["description", "examples", "default"].includes(keyword));
  return Object.fromEntries(
    kept.map(([keyword, value]) => {
      if (keyword !== "properties" || !isObject(value)) return [keyword, withoutTexts(value)];
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, child]) => [name, withoutTexts(child)]))];
    }),
  );
}

function isBreakingField(field: string, [before, after]: Values): boolean {
  if (field === "class") return rankOf(after) > rankOf(before);
  if (field === "scopes") return demandsMore([before ?? [], after]);
  return ["kind", "response", "paging"].includes(field) && before !== undefined;
}

/** Returns the rank of an access class. A more dangerous class has a higher rank; another value has the lowest. */
export function rankOf(access: unknown): number {
  return accessClasses.indexOf(access as AccessClass);
}

function partOf(tool: string, field: string, [before, after]: Values, isBreaking: boolean): Part {
  const [old, newer] = [wholeText(before), wholeText(after)];
  const isLong = Math.max(old.length, newer.length) > valueMax;
  const start = isLong && old !== "" && newer !== "" ? Math.max(0, firstDifference(old, newer) - 100) : 0;
  return { tool, field: field.slice(0, 200), before: textFrom(old, start), after: textFrom(newer, start), isBreaking };
}

/** Returns the index of the first character in which two texts differ. */
function firstDifference(before: string, after: string): number {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  return at;
}

/** Returns a text from a position on, with dots in place of what is left out. */
function textFrom(text: string, start: number): string {
  return shortText(start === 0 ? text : `...${text.slice(start).toWellFormed()}`);
}

function textOfValue(value: unknown): string {
  return shortText(wholeText(value));
}

function wholeText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function shortText(text: string): string {
  return text.length <= valueMax ? text : `${text.slice(0, valueMax - 3).toWellFormed()}...`;
}

/**
 * Returns the parts in the order of the list. Tools with breaking or suspicious parts come first, and those with parts that decide what a
 * call does. The parts of a tool stay together, so that as many tools as possible are listed whole.
 */
function sortedParts(parts: readonly AlteredPart[]): readonly AlteredPart[] {
  const isUrgent = ({ tool, field, isBreaking, isFlagged }: AlteredPart) =>
    isBreaking || isFlagged || (tool !== "" && (field === "class" || field === "mcp"));
  const urgent = new Set(parts.filter(isUrgent));
  const urgentTools = new Set([...urgent].map(({ tool }) => tool));
  return parts.toSorted(
    (a, b) =>
      Number(urgentTools.has(b.tool)) - Number(urgentTools.has(a.tool)) ||
      (a.tool < b.tool ? -1 : a.tool > b.tool ? 1 : Number(urgent.has(b)) - Number(urgent.has(a))),
  );
}

/** Returns the first parts, as many as fit into the list. */
function listedParts(parts: readonly AlteredPart[]): readonly AlteredPart[] {
  let size = 0;
  return parts.filter(({ tool, field, before, after }) => {
    size += tool.length + field.length + before.length + after.length + 100;
    return size <= valuesMax;
  });
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}
