import { isRawJson } from "@svc/core/raw-json";
import { findPart, type JsonPart, partsOf, stepsOf } from "./locate.ts";

/** Number of characters up to which a new object or list is written on one line. */
const lineMax = 88;

/**
 * Returns JSON text with another value at a JSON Pointer. `value` is JSON text. A missing member is added at the end of its object, and
 * missing objects around it are created. All other characters of the text stay as they are: order, spacing, and the spelling of numbers.
 * A pointer through a list adds an item if its index is the length of the list. Otherwise, a pointer into a scalar changes nothing.
 */
export function setText(text: string, pointer: string, value: string): string {
  const part = findPart(text, pointer);
  if (part !== undefined) return splice(text, part.value, part.to, indented(text, part.from, value));
  const { parent, name } = splitPointer(pointer);
  const around = findPart(text, parent);
  if (around === undefined) return setText(text, parent, `{ ${JSON.stringify(name)}: ${value} }`);
  const parts = partsOf(text, around.value);
  if (text[around.value] === "{") return insertPart(text, around, parts, parts.length, name, value);
  return text[around.value] === "[" && name === String(parts.length)
    ? insertPart(text, around, parts, parts.length, undefined, value)
    : text;
}

/** Returns JSON text with a value at a JSON Pointer. An undefined value removes the member, and objects that become empty by that. */
export function setValue(text: string, pointer: string, value: unknown): string {
  return value === undefined ? removeValue(text, pointer, true) : setText(text, pointer, jsonText(value));
}

/** Returns JSON text with a new item in the list at a JSON Pointer, before the item `index`. `value` is JSON text. */
export function insertItem(text: string, list: string, index: number, value: string): string {
  const around = findPart(text, list);
  if (around === undefined) return setText(text, list, `[${value}]`);
  return insertPart(text, around, partsOf(text, around.value), index, undefined, value);
}

/**
 * Returns JSON text without the member or item at a JSON Pointer, and without its comma. With `isPruned`, the objects around it that become
 * empty are removed too. Returns the text itself if there is no such value.
 */
export function removeValue(text: string, pointer: string, isPruned = false): string {
  const { parent, name } = splitPointer(pointer);
  const around = findPart(text, parent);
  if (around === undefined || pointer === "") return text;
  const parts = partsOf(text, around.value);
  const index = parts.findIndex((part) => part.name === name);
  const [before, part, after] = [parts[index - 1], parts[index], parts[index + 1]];
  if (part === undefined) return text;
  if (before !== undefined) return splice(text, before.to, part.to, "");
  if (after !== undefined) return splice(text, part.from, after.from, "");
  if (isPruned && parent !== "" && text[around.value] === "{") return removeValue(text, parent, true);
  return splice(text, around.value + 1, around.to - 1, "");
}

/** Returns JSON text in which the item `index` of a list has changed places with the next one. Returns the text itself at the list's end. */
export function swapItems(text: string, list: string, index: number): string {
  const around = findPart(text, list);
  const [first, second] = partsOf(text, around?.value ?? text.length).slice(index, index + 2);
  if (first === undefined || second === undefined || index < 0) return text;
  const between = text.slice(first.to, second.from);
  return splice(
    text,
    first.from,
    second.to,
    text.slice(second.from, second.to) + between + text.slice(first.from, first.to),
  );
}

/** Returns a value as JSON text: on one line if it is short, otherwise indented by two spaces. Raw numbers keep their spelling. */
export function jsonText(value: unknown): string {
  const line = oneLine(value);
  return line.length <= lineMax ? line : JSON.stringify(value, undefined, 2);
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(", ")}]`;
  if (typeof value !== "object" || value === null || isRawJson(value)) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value).flatMap(([name, one]) =>
    one === undefined ? [] : [`${JSON.stringify(name)}: ${oneLine(one)}`],
  );
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function splice(text: string, from: number, to: number, by: string): string {
  return text.slice(0, from) + by + text.slice(to);
}

/** Inserts a member or an item before the part `index` of an object or a list, with the same space between parts as its neighbours. */
function insertPart(
  text: string,
  around: JsonPart,
  parts: readonly JsonPart[],
  index: number,
  name: string | undefined,
  value: string,
): string {
  const [before, after] = [parts[index - 1], parts[index]];
  const isSpaced = /": /.test(text);
  const label = name === undefined ? "" : `${JSON.stringify(name)}:${isSpaced ? " " : ""}`;
  const last = before ?? after;
  if (last === undefined) return splice(text, around.value + 1, around.to - 1, filled(text, around, label + value));
  const from = parts[index - 2]?.to ?? around.value;
  const space = before === undefined ? "" : spaceBefore(text, from, before.from) || (isSpaced ? " " : "");
  const written = label + indented(text, last.from, value);
  if (before !== undefined) return splice(text, before.to, before.to, `,${space}${written}`);
  const gap =
    parts[1] === undefined ? text.slice(around.value + 1, last.from) : spaceBefore(text, last.to, parts[1].from);
  return splice(text, last.from, last.from, `${written},${gap}`);
}

/** Returns the white space directly before a part of the text. `from`: an offset before the space. */
function spaceBefore(text: string, from: number, to: number): string {
  return /\s*$/.exec(text.slice(from + 1, to))?.[0] ?? "";
}

/** Returns the content of an object or list that was empty. */
function filled(text: string, { from, value }: JsonPart, content: string): string {
  if (!content.includes("\n")) return text[value] === "{" && text.includes("\n") ? ` ${content} ` : content;
  const indent = indentAt(text, from);
  return `\n${indent}  ${indented(text, from, content).replaceAll("\n", "\n  ")}\n${indent}`;
}

/** Returns JSON text of several lines, indented like the line of the offset `at`. */
function indented(text: string, at: number, value: string): string {
  return value.replaceAll("\n", `\n${indentAt(text, at)}`);
}

function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return /^\s*/.exec(line)?.[0] ?? "";
}

function splitPointer(pointer: string): { parent: string; name: string } {
  return { parent: pointer.slice(0, pointer.lastIndexOf("/")), name: stepsOf(pointer).at(-1) ?? "" };
}
