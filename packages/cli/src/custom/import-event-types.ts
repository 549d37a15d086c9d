import { isObject, parseExactJson } from "@svc/core";
import { ConnectError, type EventType } from "@svc/sdk";
import type { CommandContext } from "../command/context.ts";
import { command, type Run } from "../command/declared.ts";
import { CommandError, failureText, refusalsOf } from "../command/error.ts";
import { readText } from "../command/input.ts";
import { countText } from "../text/table.ts";
import { openDocument } from "./imported-schema.ts";

type ImportValues = { readonly file: string; readonly dryRun?: boolean; readonly breaking?: boolean };

/** The fields of an existing event type that an import replaces. The other fields keep their values. */
const importedFields = ["description", "schemaJson", "sampleJson"];

/** The values of an event type that svc reads from a webhook in an OpenAPI file. */
type ImportedType = Pick<EventType, "name" | "description" | "schemaJson" | "sampleJson">;

/** The command `svc event-types import`, which creates or replaces event types from the webhooks of an OpenAPI 3.1 file. */
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
    more: "\nAll types are checked before the first one is stored. A type keeps its state and whether it is offered.",
    examples: ["svc event-types import openapi.yaml --dry-run", "svc event-types import openapi.yaml"],
  },
  async ({ values: { file, dryRun = false, breaking = false }, context, project, asJson }: Run<ImportValues>) => {
    const types = await readTypes(file, context);
    const { triggers } = await project();
    const put = async (type: ImportedType, isTrial: boolean) => {
      const request = { ...type, breaking, dryRun: isTrial, updateMask: importedFields };
      const { eventType } = await triggers.putEventType(request).catch((err: unknown) => {
        throw refusalOf(type.name, err);
      });
      return { name: type.name, version: eventType?.version ?? 0 };
    };
    let done = await inOrder(types, (type) => put(type, true));
    if (!dryRun) done = await inOrder(types, (type) => put(type, false));
    if (asJson) return context.print(JSON.stringify(done, null, 2));
    for (const { name, version } of done) context.print(`${name} ${dryRun ? "would have" : "has"} version ${version}`);
    context.note(`${countText(done.length, "event type")} ${dryRun ? "checked" : "stored"}`);
  },
);

async function inOrder<Item, Result>(items: readonly Item[], run: (item: Item) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await run(item));
  return results;
}

/**
 * Returns the error for an event type that the service refused, with the name of the webhook in the imported document. Returns other errors
 * unchanged.
 */
function refusalOf(name: string, err: unknown): unknown {
  if (!(err instanceof ConnectError) || !refusalsOf(err).some(({ reason }) => reason.startsWith("EVENT_"))) return err;
  const text = failureText(err, undefined, { path: "svc event-types import", options: namesInFile });
  return new CommandError(`the webhook ${JSON.stringify(name)}: ${text}`);
}

/**
 * The parts of a webhook in an OpenAPI file, as error messages name them. The key is the field of the request that svc fills from the part.
 */
const namesInFile = new Map([
  ["name", "the name"],
  ["description", "the description"],
  ["schemaJson", "the schema of its body"],
  ["sampleJson", "the example of its body"],
]);

async function readTypes(file: string, context: CommandContext): Promise<ImportedType[]> {
  const { parse } = await import("yaml");
  const document = parseText(await readText(file, file, context), parse);
  const webhooks = isObject(document) ? document["webhooks"] : undefined;
  if (!isObject(webhooks) || Object.keys(webhooks).length === 0)
    throw new CommandError(`${file} has no webhooks: name an OpenAPI 3.1 file with the part webhooks`);
  const types = Object.entries(webhooks).map(([name, webhook]) => {
    try {
      return readWebhook(openDocument(document), name, webhook);
    } catch (err) {
      throw err instanceof CommandError ? new CommandError(`the webhook ${JSON.stringify(name)}: ${err.message}`) : err;
    }
  });
  const names = new Map<string, string>();
  for (const { name } of types) {
    const other = names.get(name.toLowerCase());
    if (other !== undefined)
      throw new CommandError(`the webhooks "${other}" and "${name}" differ only in the case of letters: rename one`);
    names.set(name.toLowerCase(), name);
  }
  return types;
}

function readWebhook(document: OpenDocument, name: string, given: unknown): ImportedType {
  const webhook = document.lookUp(given);
  const post = document.lookUp(isObject(webhook) ? webhook["post"] : undefined);
  if (!isObject(post)) throw new CommandError("it has no operation post");
  const body = document.lookUp(post["requestBody"]);
  const content = isObject(body) && isObject(body["content"]) ? body["content"] : {};
  const types = Object.keys(content);
  const contentType = types.find((type) => /^application\/(?:json|[\w.-]+\+json)(?:;|$)/i.test(type));
  if (types.length > 0 && contentType === undefined)
    throw new CommandError(`its body is ${types.join(", ")}: describe a JSON body, as application/json`);
  const media = document.lookUp(content[contentType ?? ""]);
  const { schema, sample } = readPayload(document, post, isObject(media) ? media : {});
  const described = post["description"] ?? post["summary"];
  return {
    name,
    description: typeof described === "string" ? described : "",
    schemaJson: schema === undefined ? "" : JSON.stringify(document.readSchema(schema)),
    sampleJson: isObject(sample) ? JSON.stringify(sample) : "",
  };
}

type OpenDocument = ReturnType<typeof openDocument>;

type Payload = { readonly schema: unknown; readonly sample: unknown };

type JsonMembers = { readonly [name: string]: unknown };

/**
 * Returns the schema and the sample of a webhook's payload. The payload is the whole body, unless `x-svc-event-type` names one property of
 * the body.
 */
function readPayload(document: OpenDocument, post: JsonMembers, media: JsonMembers): Payload {
  const sample = media["example"] ?? firstExample(document, media["examples"]);
  const mark = post["x-svc-event-type"];
  const property = isObject(mark) ? mark["payload"] : undefined;
  if (!isObject(mark) || typeof property !== "string") return { schema: media["schema"], sample };
  const delivery = document.lookUp(media["schema"]);
  const properties = isObject(delivery) ? delivery["properties"] : undefined;
  const schema = isObject(properties) ? properties[property] : undefined;
  if (schema === undefined)
    throw new CommandError(`its body has no property "${property}", which x-svc-event-type names`);
  const isAny = mark["anyPayload"] === true && JSON.stringify(schema) === '{"type":"object"}';
  return { schema: isAny ? undefined : schema, sample: isObject(sample) ? sample[property] : undefined };
}

function firstExample(document: OpenDocument, examples: unknown): unknown {
  const [first] = isObject(examples) ? Object.values(examples) : [];
  const example = document.lookUp(first);
  return isObject(example) ? example["value"] : undefined;
}

function parseText(text: string, parseYaml: (text: string) => unknown): unknown {
  try {
    return text.trimStart().startsWith("{") ? parseExactJson(text) : parseYaml(text);
  } catch (err) {
    throw new CommandError(`the file cannot be read: ${err instanceof Error ? err.message : String(err)}`);
  }
}
