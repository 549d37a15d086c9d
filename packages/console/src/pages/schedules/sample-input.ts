import { setValue } from "../../json/patch.ts";
import { isObject, type Json, memberOf } from "../../json/value.ts";
import { programOf } from "./definition.ts";

/**
 * Returns the schedule's program with the input that a run at a given time would have. Undefined if the input needs an event or a row.
 * `fire`: values of that time, such as `at` and `localDate`.
 */
export function programAt(text: string, root: Json | undefined, fire: Json): string | undefined {
  const input = memberOf(root, "input");
  if (input === undefined) return programOf(text);
  const filled = fill(input, fire);
  return filled === undefined ? undefined : setValue(programOf(text), "/input", filled);
}

function fill(value: unknown, fire: Json): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => fill(item, fire));
    return items.includes(undefined) ? undefined : items;
  }
  if (!isObject(value)) return value;
  const { $ref, $text } = value;
  if (typeof $ref === "string") return partOfFire($ref, fire) ?? value["else"];
  if (typeof $text === "string") {
    let isWhole = true;
    const text = $text.replace(/\{([^{}]+)\}/g, (_, path: string) => {
      const found = partOfFire(path, fire);
      isWhole &&= found !== undefined;
      return String(found);
    });
    return isWhole ? text : undefined;
  }
  const entries = Object.entries(value).map(([name, part]) => [name, fill(part, fire)] as const);
  return entries.some(([, part]) => part === undefined) ? undefined : Object.fromEntries(entries);
}

function partOfFire(path: string, fire: Json): unknown {
  const [root = "", name = ""] = path.split(".");
  return root === "fire" ? fire[name] : undefined;
}
