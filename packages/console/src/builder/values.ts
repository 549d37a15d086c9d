import { isObject } from "../json/value.ts";

/**
 * How a value of a program is written: a reference to another value (`$ref`), a text with values in it (`$text`), an expression (`$cel`), or
 * a plain value.
 */
export type ValueForm = "ref" | "text" | "cel" | "plain";

/**
 * Returns how a value of a program is written: as a reference, a text, an expression or a plain value. An object with other properties in
 * addition to `$ref`, `$text` or `$cel` counts as plain, and is shown as JSON.
 */
export function formOf(value: unknown): ValueForm {
  if (!isObject(value)) return "plain";
  const [name = "", ...others] = Object.keys(value).filter((key) => key !== "else");
  if (others.length > 0 || typeof value[name] !== "string") return "plain";
  return name === "$ref" ? "ref" : name === "$text" ? "text" : name === "$cel" ? "cel" : "plain";
}

/**
 * True if a plain value contains, at any depth, a reference, a text with values or an expression. The form fields made from a tool's schema
 * cannot show such a value.
 */
export function holdsForms(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsForms);
  return isObject(value) && Object.entries(value).some(([name, part]) => name.startsWith("$") || holdsForms(part));
}

/**
 * A part of a text with values in it: plain words, or one value, which is drawn as a chip. `name`: path of the value, such as
 * `steps.sum.of`; empty for plain words.
 */
export type ChipPart = { readonly words: string; readonly name: string };

/**
 * Returns the parts of a `$text` value, in which `{path}` is a value of the program. A double brace (`{{`) is a brace of the text itself.
 */
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

/** Returns the label of a value in a text, such as `sum · of` for the path `steps.sum.of`. */
export function chipWords(name: string): string {
  return name.replace(/^(?:steps|rows|input|params|row|calls)\./, "").replaceAll(".", " · ");
}

/**
 * Returns a value after the user has added the program value `name` to it. In a text it is added at the end; any other value is replaced.
 */
export function withName(value: unknown, name: string): unknown {
  if (formOf(value) === "text" && isObject(value)) return { ...value, $text: `${String(value["$text"])} {${name}}` };
  if (typeof value === "string" && value !== "") return { $text: `${value.replaceAll("{", "{{")} {${name}}` };
  return { $ref: name };
}

/**
 * True if a value with the JSON types `types`, such as `string or null`, may be used in a field of type `wanted`. If a type is not known,
 * returns true.
 */
export function fits(types: string, wanted: string): boolean {
  if (types === "" || wanted === "") return true;
  const has = types.split(" or ");
  return has.includes(wanted) || (wanted === "number" && has.includes("integer")) || wanted === "string";
}

/** Returns the name of an argument or a tool in readable words, such as `Chat id` for `chat_id`. */
export function namedWords(name: string): string {
  const words = name
    .replace(/[_-]+/g, " ")
    .replace(/(?<=[a-z])(?=[A-Z])/g, " ")
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}
