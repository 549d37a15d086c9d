/** A JSON Schema whose fields are listed. */
export type Schema = Readonly<Record<string, unknown>>;

/** Schema keywords that hold further schemas for the same value. */
const combiners = ["oneOf", "anyOf", "allOf"];

/**
 * Lists every field that a schema declares, each by the names that lead to it below `name`, such as `call.retry.max`. A field that has
 * fields of its own is represented by those. A definition in `apart` is listed separately, so its fields are left out where it is
 * referenced.
 */
export function fieldsOf(
  root: Schema,
  start: { readonly name: string; readonly schema: Schema; readonly apart: readonly string[] },
): string[] {
  const definitions = (root["$defs"] ?? {}) as Readonly<Record<string, Schema>>;
  const found = new Set<string>();
  const look = (schema: unknown, name: string): boolean => {
    if (typeof schema !== "object" || schema === null) return false;
    const node = schema as Schema;
    const reference = typeof node["$ref"] === "string" ? node["$ref"].slice("#/$defs/".length) : undefined;
    const referred = reference === undefined || start.apart.includes(reference) ? undefined : definitions[reference];
    const inner = [referred, node["items"], node["additionalProperties"]].map((one) => look(one, name));
    const either = combiners
      .flatMap((keyword) => (node[keyword] as unknown[] | undefined) ?? [])
      .map((one) => look(one, name));
    // If a plain value is allowed instead of the object, the field itself is listed as well as those below it.
    const isBelow = inner.includes(true) || (either.length > 0 && !either.includes(false));
    const declared = Object.entries((node["properties"] ?? {}) as object).filter(([, value]) => value !== false);
    for (const [field, value] of declared) if (!look(value, `${name}.${field}`)) found.add(`${name}.${field}`);
    return declared.length > 0 || isBelow;
  };
  look(start.schema, start.name);
  return [...found];
}

/** Returns a document with another value at a JSON Pointer, or with nothing there. Throws an Error if the pointer leads nowhere. */
export function withOther<T>(document: T, pointer: string, other: unknown): T {
  const copy = structuredClone(document);
  const names = namesIn(pointer);
  const last = names.pop() ?? "";
  // biome-ignore lint/suspicious/noExplicitAny: a document is any JSON
  const parent = names.reduce<any>((at, name) => at?.[name], copy);
  if (parent === undefined) throw new Error(`nothing stands at ${pointer}`);
  if (JSON.stringify(parent[last]) === JSON.stringify(other))
    throw new Error(`${pointer} is the same in both documents`);
  if (other !== undefined) parent[last] = other;
  else if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else delete parent[last];
  return copy;
}

/** True if the pointer contains the names of a field in order, without the first name. It then leads to the field or into it. */
export function leadsTo(pointer: string, field: string): boolean {
  const names = namesIn(pointer);
  const wanted = field
    .replace(/^map\.(?=(call|http|run)\.)/, "")
    .split(".")
    .slice(1);
  let rest = names;
  for (const name of wanted.toReversed()) {
    const at = rest.lastIndexOf(name);
    if (at < 0) return false;
    rest = rest.slice(0, at);
  }
  return true;
}

function namesIn(pointer: string): string[] {
  return pointer
    .slice(1)
    .split("/")
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}
