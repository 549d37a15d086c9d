import { type CatalogView, withoutOptionalNulls } from "@svc/catalog";
import { type Fault, isJsonNumber, isObject, parseExactJson, scalarText } from "@svc/core";
import { toolFaults } from "../errors.ts";
import type { Params } from "../mcp/offer.ts";
import { meantSlugs } from "./meant-names.ts";
import type { ListedTool } from "./meta-tools.ts";

// Functions that correct the arguments of calls, because clients and models write arguments in different ways. An argument is converted
// only if it has one possible meaning. All other arguments are checked against the schema unchanged.

type Schema = { readonly properties: Params; readonly isClosed: boolean };

function schemaOf({ properties, additionalProperties }: Params): Schema {
  return { properties: isObject(properties) ? properties : {}, isClosed: additionalProperties === false };
}

/** Alternative names of arguments. An alternative name is ignored if the called tool has an argument with exactly that name. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  slug: ["tool", "tool_slug", "tool_name", "tool_id"],
  query: ["q", "use_case", "intent", "search", "text"],
  arguments: ["args", "params", "parameters", "input", "tool_arguments", "tool_args", "tool_input", "tool_params"],
  entity_id: ["entity", "user_id", "user"],
  connected_account_id: ["account_id", "account"],
  toolkit: ["app", "toolkit_slug"],
  program: ["program_json"],
};

/** Names of fields into which some clients put all arguments of a call. */
const envelopes = ["arguments", "args", "params", "parameters", "input", "tool_input"];

/** Returns an object, given as an object or as JSON text; undefined for any other value. */
export function objectOf(value: unknown): Params | undefined {
  if (isObject(value)) return value;
  // An empty list counts as an object without fields, because PHP writes it so. An empty text has no content either.
  if ((Array.isArray(value) && value.length === 0) || value === "") return {};
  if (typeof value !== "string") return undefined;
  const text = /^\s*```(?:json)?\s*([\s\S]*?)\s*```\s*$/.exec(value)?.[1] ?? value;
  if (!/^\s*[{"]/.test(text)) return undefined;
  try {
    const parsed = parseExactJson(text);
    if (isObject(parsed)) return parsed;
    return typeof parsed === "string" && /^\s*\{/.test(parsed) ? objectOf(parsed) : undefined;
  } catch {
    return undefined;
  }
}

/** Maximum number of names for which a call is corrected. It is more than people and models write. */
const namesMax = 1_000;

function hasMany(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length > namesMax;
}

/**
 * Returns corrected arguments for one of svc's own tools. Clients often make mistakes in names or types (for example `entityId` for
 * `entity_id`, or "5" for 5). `view`: the catalog. It is needed if the tool calls another tool by its slug. A call with very many names
 * is returned unchanged, because to correct it would take long.
 */
export function meantArguments(
  { inputSchema }: Pick<ListedTool, "inputSchema">,
  given: Params,
  view: CatalogView,
): Params {
  if (hasMany(given)) return given;
  const own = schemaOf(inputSchema);
  const opened = withoutEnvelope(given, own);
  if (hasMany(opened)) return given;
  const calls = Object.hasOwn(own.properties, "arguments");
  const slug = calls ? slugOf(opened, view) : undefined;
  const called = slug === undefined ? undefined : view.tools.get(slug);
  const calledSchema = called && schemaOf(called.inputSchema);
  const named = renamed(opened, own, calledSchema);
  const typed = Object.fromEntries(
    Object.entries(named).map(([name, value]) => [name, typedAs(own.properties[name], value)]),
  );
  const meant = calls && calledSchema !== undefined ? placed(typed, own, calledSchema) : typed;
  const withSlug = Object.hasOwn(own.properties, "slug") ? { ...meant, ...slugIn(meant, view) } : meant;
  return withoutOptionalNulls(inputSchema, withSlug) as Params;
}

/** Returns the arguments of a call without an extra level. Some clients put all arguments into one field; its content is returned then. */
function withoutEnvelope(given: Params, { properties }: Schema): Params {
  const names = Object.keys(given);
  const [name = ""] = names;
  const inner = names.length === 1 && envelopes.includes(name) ? objectOf(given[name]) : undefined;
  if (inner === undefined) return given;
  const isWhole = Object.keys(inner).some((key) => nameIn(key, properties) !== undefined);
  return isWhole || !Object.hasOwn(properties, name) ? inner : given;
}

/**
 * Returns the declared argument that a client meant with `name`. Clients may write `name` in another form: camel case (`entityId` for
 * `entity_id`), or an alternative name (`user_id`). Undefined if no declared argument fits.
 */
function nameIn(name: string, properties: Params): string | undefined {
  const snake = name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/[-\s]/g, "_")
    .toLowerCase();
  if (Object.hasOwn(properties, snake)) return snake;
  return Object.keys(properties).find(
    (known) => Object.hasOwn(otherNames, known) && otherNames[known]?.includes(snake),
  );
}

function renamed(given: Params, { properties }: Schema, called: Schema | undefined): Params {
  const entries = Object.entries(given).map(([name, value]) => {
    if (Object.hasOwn(properties, name) || (called !== undefined && Object.hasOwn(called.properties, name)))
      return [name, value] as const;
    const known = nameIn(name, properties);
    return [known === undefined || Object.hasOwn(given, known) ? name : known, value] as const;
  });
  // If two given names mean the same argument, neither of them is converted.
  const count = Map.groupBy(entries, ([name]) => name);
  return [...count.values()].some((same) => same.length > 1) ? given : Object.fromEntries(entries);
}

/**
 * Returns a value converted to the type that the schema declares for its argument, if the value can be read as that type. For example, "5"
 * becomes the number 5. Otherwise returns the value unchanged.
 */
function typedAs(schema: unknown, value: unknown): unknown {
  const type = isObject(schema) ? schema["type"] : undefined;
  if (type === "object") return objectOf(value) ?? value;
  if (type === "string") return isJsonNumber(value) ? scalarText(value) : onlyItem(value);
  if (typeof value !== "string") return value;
  if (type === "boolean" && /^(?:true|false)$/i.test(value)) return value.toLowerCase() === "true";
  if (type === "integer" && /^\d{1,15}$/.test(value)) return Number(value);
  return type === "array" ? listOf(value) : value;
}

function onlyItem(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 && typeof value[0] === "string" ? value[0] : value;
}

function listOf(text: string): unknown {
  if (!text.startsWith("[")) return text.split(",").map((part) => part.trim());
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function slugOf(given: Params, view: CatalogView): string | undefined {
  const [first] = ["slug", "toolSlug", ...(otherNames["slug"] ?? [])].flatMap((name) => {
    const text = Object.hasOwn(given, name) ? onlyItem(given[name]) : undefined;
    return typeof text === "string" ? [text] : [];
  });
  const found = first === undefined ? [] : meantSlugs(first, view);
  return found.length === 1 ? found[0] : undefined;
}

function slugIn({ slug }: Params, view: CatalogView): Params {
  const found = typeof slug === "string" ? meantSlugs(slug, view) : [];
  return found.length === 1 ? { slug: found[0] } : {};
}

/**
 * Returns the arguments of an agent's `call_tool` call, each where it belongs. Arguments of the called tool are moved into `arguments`.
 * Arguments of `call_tool` itself are moved to the top level.
 */
function placed(given: Params, own: Schema, called: Schema): Params {
  const inner = insideOf(given["arguments"], called);
  if (inner === undefined || hasMany(inner)) return given;
  const isOfTool = (name: string) => Object.hasOwn(called.properties, name);
  const isOfCall = (name: string) => Object.hasOwn(own.properties, name) && name !== "arguments" && name !== "slug";
  const outer = Object.entries(given).filter(([name]) => name !== "arguments");
  const movesIn = outer.filter(
    ([name]) =>
      !Object.hasOwn(own.properties, name) && (isOfTool(name) || !called.isClosed) && !Object.hasOwn(inner, name),
  );
  const movesOut = Object.entries(inner).filter(
    ([name]) => isOfCall(name) && !isOfTool(name) && called.isClosed && !Object.hasOwn(given, name),
  );
  const moved = new Set([...movesIn, ...movesOut].map(([name]) => name));
  const stays = (entries: readonly (readonly [string, unknown])[]) => entries.filter(([name]) => !moved.has(name));
  // True if the argument `confirm` can be left out, because the called tool needs no confirmation. False for any other argument.
  const isIdle = ([name, value]: readonly [string, unknown]) =>
    name === "confirm" && !isOfTool(name) && called.isClosed && typeof typedAs(confirmSchema, value) === "boolean";
  const args = [...stays(Object.entries(inner)), ...movesIn].filter((entry) => !isIdle(entry));
  const typed = args.map(([name, value]) => [
    name,
    name === "confirm" && isOfTool(name) ? typedAs(confirmSchema, value) : value,
  ]);
  const beside = [...stays(outer).filter((entry) => !isIdle(entry)), ...movesOut];
  return {
    ...Object.fromEntries(beside.map(([name, value]) => [name, typedAs(own.properties[name], value)])),
    arguments: Object.fromEntries(typed),
  };
}

const confirmSchema = { type: "boolean" };

/**
 * Returns the arguments of the called tool. If they are inside another object with a name such as `args`, returns the content of that
 * object. This is not done if the tool itself has an argument of that name.
 */
function insideOf(value: unknown, { properties, isClosed }: Schema): Params | undefined {
  const inner = value === undefined || value === null ? {} : objectOf(value);
  const names = Object.keys(inner ?? {});
  const [name = ""] = names;
  const isWrapped = names.length === 1 && envelopes.includes(name) && isClosed && !Object.hasOwn(properties, name);
  return (isWrapped ? objectOf(inner?.[name]) : undefined) ?? inner;
}

/** Returns the arguments of a tool. If the client has put all arguments into one additional object, returns the content of this object. */
export function unwrapped(given: Params, { inputSchema }: { readonly inputSchema: Params }): Params {
  return insideOf(given, schemaOf(inputSchema)) ?? given;
}

/** Maximum number of names of each object that `callToMake` looks at: more do not fit into its text. */
const shownMax = 200;

/**
 * Returns a text that shows the correct form of a client's call. Each argument name is inside the object to which it belongs. The values
 * are left out, except the slug.
 */
function callToMake({ name, inputSchema }: ListedTool, given: Params): string {
  const { properties } = schemaOf(inputSchema);
  const { required } = inputSchema;
  const lacking = (Array.isArray(required) ? required.map(String) : []).filter((key) => !Object.hasOwn(given, key));
  const known = Object.keys(given).filter((key) => Object.hasOwn(properties, key) && key !== "arguments");
  const inner = Object.hasOwn(properties, "arguments")
    ? [
        ...Object.keys(objectOf(given["arguments"]) ?? {}).slice(0, shownMax),
        ...Object.keys(given)
          .slice(0, shownMax)
          .filter((key) => !Object.hasOwn(properties, key)),
      ]
    : [];
  const shown = [
    ...lacking.map((key) => `"${key}": …`),
    ...known.map((key) => `"${key}": ${key === "slug" ? JSON.stringify(given[key]) : "…"}`),
    ...(inner.length === 0 ? [] : [`"arguments": {${inner.map((key) => `${JSON.stringify(key)}: …`).join(", ")}}`]),
  ];
  return `${name} {${shown.join(", ")}}`.slice(0, 500);
}

/**
 * Returns the error for arguments of a meta-tool (such as `call_tool`, through which agents reach all tools) that do not match its input
 * schema.
 */
export function metaArgumentsMissed(
  tool: ListedTool,
  faults: readonly { readonly pointer: string; readonly message: string }[],
  given: Params,
): Fault {
  const texts = faults.map(({ pointer, message }) => `${pointer === "" ? tool.name : pointer.slice(1)} ${message}`);
  return toolFaults.META_ARGUMENTS_INVALID(tool.name, texts, callToMake(tool, given));
}
