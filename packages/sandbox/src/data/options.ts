import type { Toolkit } from "@svc/catalog";
import { isObject } from "@svc/core";
import { type AnyObject, propertiesOf } from "../app/refusal.ts";
import { plainName, singularOf, wordsOf } from "./words.ts";

type Options = ReadonlyMap<string, readonly unknown[]>;

const knownOptions = new WeakMap<Toolkit, Options>();

/**
 * Returns a function that returns the values that the app accepts for a field. The values come from the arguments of the app's tools.
 * `noun`: the object that has the field, for example an incident.
 */
export function optionsFor(toolkit: Toolkit, noun: readonly string[]): (name: string) => readonly unknown[] {
  let options = knownOptions.get(toolkit);
  if (options === undefined) {
    options = findOptions(toolkit);
    knownOptions.set(toolkit, options);
  }
  const found = options;
  return (name) => found.get(`${noun.join("")}.${plainName(name)}`) ?? found.get(`.${plainName(name)}`) ?? [];
}

function findOptions({ actions }: Toolkit): Options {
  const options = new Map<string, readonly unknown[]>();
  for (const { name, inputSchema } of actions) {
    const [, ...words] = wordsOf(name);
    const noun = [...words.slice(0, -1), singularOf(words.at(-1) ?? "")].join("");
    for (const [argument, values] of enumsOf(inputSchema)) {
      const own = `${noun}.${argument}`;
      const shared = `.${argument}`;
      if (!options.has(own)) options.set(own, values);
      const before = options.get(shared);
      // True if all tools so far accept the same values for the argument. If not, the values are not used for other nouns.
      const agrees = before === undefined || JSON.stringify(before) === JSON.stringify(values);
      options.set(shared, agrees ? values : []);
    }
  }
  return options;
}

function enumsOf(schema: AnyObject): [string, readonly unknown[]][] {
  return propertiesOf(schema).flatMap(([name, child]) => {
    const own = child["enum"] ?? (isObject(child["items"]) ? child["items"]["enum"] : undefined);
    const values = Array.isArray(own)
      ? own.filter((value) => typeof value === "string" || typeof value === "number")
      : [];
    return values.length > 0 ? [[plainName(name), values] as [string, readonly unknown[]]] : [];
  });
}
