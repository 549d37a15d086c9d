import { isObject } from "../json/value.ts";

/** The form of a value in a program: a reference, a text with values in it, an expression, or a plain value. */
export type ValueForm = "ref" | "text" | "cel" | "plain";

/** Returns the form of a value of a program. A form with other members than its own counts as plain, and is shown as JSON. */
export function formOf(value: unknown): ValueForm {
  if (!isObject(value)) return "plain";
  const [name = "", ...others] = Object.keys(value).filter((key) => key !== "else");
  if (others.length > 0 || typeof value[name] !== "string") return "plain";
  return name === "$ref" ? "ref" : name === "$text" ? "text" : name === "$cel" ? "cel" : "plain";
}

/** True if a plain value contains a reference, a text or an expression at any depth. The fields of a schema cannot show those. */
export function holdsForms(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsForms);
  return isObject(value) && Object.entries(value).some(([name, part]) => name.startsWith("$") || holdsForms(part));
}

/** A part of a text with values in it. `name`: the path of a value; empty for plain words. */
export type ChipPart = { readonly words: string; readonly name: string };

/** Returns the parts of a `$text`. Two braces are one brace of the text. */
export function textParts(template: string): readonly ChipPart[] {
  const parts: ChipPart[] = [];
  let words = "";
  for (const [found] of template.matchAll(/\{\{|\}\}|\{[^{}]*\}|[^{}]+|[{}]/g)) {
    const isValue = found.length > 2 && found.startsWith("{") && found.endsWith("}");
    if (!isValue) {
      words += found === "{{" || found === "}}" ? found.slice(1) : found;
      continue;
    }
    if (words !== "") parts.push({ words, name: "" });
    words = "";
    parts.push({ words: chipWords(found.slice(1, -1)), name: found.slice(1, -1) });
  }
  return words === "" ? parts : [...parts, { words, name: "" }];
}

/** Returns the words of a value's chip, such as `sum · of` for `steps.sum.of`. */
export function chipWords(name: string): string {
  return name.replace(/^(?:steps|rows|input|params|row|calls)\./, "").replaceAll(".", " · ");
}

/** Returns a value to which the value `name` was added: at the end of a text, otherwise in place of the old value. */
export function withName(value: unknown, name: string): unknown {
  if (formOf(value) === "text" && isObject(value)) return { ...value, $text: `${String(value["$text"])} {${name}}` };
  if (typeof value === "string" && value !== "") return { $text: `${value.replaceAll("{", "{{")} {${name}}` };
  return { $ref: name };
}

/** True if a value of these JSON types, such as `string or null`, fits a field for the type `wanted`. Unknown types fit. */
export function fits(types: string, wanted: string): boolean {
  if (types === "" || wanted === "") return true;
  const has = types.split(" or ");
  return has.includes(wanted) || (wanted === "number" && has.includes("integer")) || wanted === "string";
}

/** Returns the words of an argument or a tool, such as `Chat id` for `chat_id`. */
export function namedWords(name: string): string {
  const words = name
    .replace(/[_-]+/g, " ")
    .replace(/(?<=[a-z])(?=[A-Z])/g, " ")
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}
