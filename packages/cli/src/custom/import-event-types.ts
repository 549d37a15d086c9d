import { isObject, parseExactJson } from "@svc/core";
import type { CommandContext } from "../command/context.ts";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import { readText } from "../command/input.ts";
import { countText } from "../text/table.ts";

type ImportValues = { readonly file: string; readonly dryRun?: boolean; readonly breaking?: boolean };

/** An event type as a webhook of an OpenAPI file describes it. */
type ImportedType = { readonly name: string; readonly description: string; readonly schemaJson: string };

/** The command `svc event-types import`. */
export const addEventTypesImport = command(
  undefined,
  {
    client: "project",
    says: "create or replace event types from the webhooks of an OpenAPI 3.1 file; needs an approver's key",
    takes: { "<file>": "OpenAPI file in YAML or JSON; - for standard input" },
    options: [
      ["--dry-run", "check the types without storing them"],
      ["--breaking", "accept that new schemas refuse stored events"],
    ],
    json: "the names and versions of the types as a JSON list",
    examples: ["svc event-types import openapi.yaml --dry-run", "svc event-types import openapi.yaml"],
  },
  async ({ values: { file, dryRun = false, breaking = false }, context, project, asJson }: Run<ImportValues>) => {
    const types = await readTypes(file, context);
    const { triggers } = await project();
    const put: { readonly name: string; readonly version: number }[] = [];
    for (const type of types) {
      const { eventType } = await triggers.putEventType({ ...type, dryRun, breaking });
      put.push({ name: type.name, version: eventType?.version ?? 0 });
      if (!asJson) context.print(`${type.name} ${dryRun ? "would have" : "has"} version ${eventType?.version}`);
    }
    if (asJson) context.print(JSON.stringify(put, null, 2));
    else context.note(`${countText(put.length, "event type")} ${dryRun ? "checked" : "stored"}`);
  },
);

async function readTypes(file: string, context: CommandContext): Promise<ImportedType[]> {
  const { parse } = await import("yaml");
  const text = await readText(file, file, context);
  const document = parseText(text, parse);
  const webhooks = isObject(document) ? document["webhooks"] : undefined;
  if (!isObject(webhooks) || Object.keys(webhooks).length === 0)
    throw new CommandError(`${file} has no webhooks: name an OpenAPI 3.1 file with the part webhooks`);
  return Object.entries(webhooks).map(([name, webhook]) => {
    const { post } = isObject(webhook) ? webhook : {};
    if (!isObject(post)) throw new CommandError(`the webhook ${name} has no operation post`);
    const schema = pathOf(post, ["requestBody", "content", "application/json", "schema"]);
    const described = post["description"] ?? post["summary"];
    return {
      name,
      description: typeof described === "string" ? described : "",
      schemaJson: schema === undefined ? "" : JSON.stringify(inlined(document, schema, [])),
    };
  });
}

function parseText(text: string, parseYaml: (text: string) => unknown): unknown {
  try {
    return text.trimStart().startsWith("{") ? parseExactJson(text) : parseYaml(text);
  } catch (err) {
    throw new CommandError(`the file cannot be read: ${err instanceof Error ? err.message : String(err)}`);
  }
}

function pathOf(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (isObject(at) ? at[name] : undefined), value);
}

/**
 * Returns a JSON schema in which each reference is replaced by the schema that it refers to. The schema of an event type may contain no
 * references.
 */
function inlined(document: unknown, value: unknown, open: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => inlined(document, item, open));
  if (!isObject(value)) return value;
  const { $ref, ...others } = value;
  if (typeof $ref !== "string") {
    return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, inlined(document, child, open)]));
  }
  if (!$ref.startsWith("#/")) throw new CommandError(`the reference ${$ref} leaves the file`);
  if (open.includes($ref)) throw new CommandError(`the schema ${$ref} contains itself, which a type cannot have`);
  const steps = $ref
    .slice(2)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  const target = pathOf(document, steps);
  if (target === undefined) throw new CommandError(`the file has nothing at ${$ref}`);
  const whole = inlined(document, target, [...open, $ref]);
  const rest = inlined(document, others, open);
  return isObject(whole) && isObject(rest) ? { ...whole, ...rest } : whole;
}
