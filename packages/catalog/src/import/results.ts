import { isObject } from "@svc/core";
import type { ActionDocument, JsonSchema } from "../read/documents.ts";
import { isAnyJson, isJson, plainType } from "./bodies.ts";
import { LeftOutError } from "./import-fault.ts";
import { type DocumentNode, resolved } from "./read.ts";
import { objectOf, type SchemaConverter, typesOf } from "./schema.ts";

/**
 * The part of an imported tool that says how the app's answer is read. `accept`: media type that the request asks for in its Accept header;
 * undefined for plain JSON.
 */
export type ToolResult = Pick<ActionDocument, "output" | "response"> & { readonly accept: string | undefined };

/** True for a media type whose answers svc reads as JSON. The type for any content counts too, because documents often use it for JSON. */
const isJsonAnswer = (type: string) => isJson(type) || isAnyJson(type);
const isText = (type: string) =>
  /^(?:text\/|application\/(?:[\w.+-]+\+)?(?:xml|yaml|x-yaml|javascript|graphql)\b)/i.test(type);
const isStream = (type: string) => /event-stream|ndjson|jsonl|json-seq|x-json-stream/i.test(type);

/**
 * Returns how svc makes a tool's result from the answer of an imported operation. Throws LeftOutError if the answer is binary or a stream.
 */
export function resultOf(root: DocumentNode, node: DocumentNode, converter: SchemaConverter): ToolResult {
  const contents = Object.entries(contentOf(root, node));
  const json = contents.find(([type]) => isJsonAnswer(type) && !isStream(type));
  if (json !== undefined) return jsonResult(root, json, converter);
  const [first] = contents;
  if (first === undefined) return { output: { type: "object" }, response: { empty: {} }, accept: undefined };
  if (contents.some(([type]) => isStream(type))) throw new LeftOutError("stream");
  if (!contents.some(([type]) => isText(type))) throw new LeftOutError("download");
  return {
    output: { type: "object", properties: { text: { type: "string" } } },
    response: { as: "text" },
    accept: plainType(contents.find(([type]) => isText(type))?.[0] ?? "text/plain"),
  };
}

/**
 * Returns the media types and schemas of an operation's successful answer. If several 2xx statuses declare a content, the smallest status
 * counts. Returns an empty object if no successful answer has a content.
 */
function contentOf(root: DocumentNode, node: DocumentNode): DocumentNode {
  const responses = objectOf(node["responses"]);
  const statuses = Object.keys(responses)
    .filter((status) => /^2(?:\d\d|xx)$/i.test(status))
    .sort();
  const known = statuses.length > 0 ? statuses : ["default"];
  const found = known.map((status) => objectOf(resolved(root, responses[status])["content"]));
  return found.find((content) => Object.keys(content).length > 0) ?? {};
}

function jsonResult(
  root: DocumentNode,
  [type, content]: readonly [string, unknown],
  converter: SchemaConverter,
): ToolResult {
  const accept = isAnyJson(type) || /^application\/json/i.test(type) ? undefined : plainType(type);
  const given = resolved(root, content)["schema"];
  if (given === undefined) return { output: { type: "object" }, response: { empty: {} }, accept };
  const schema: JsonSchema = converter.convert(given, "result");
  const types = typesOf(schema) ?? [];
  const isWhole = isObject(schema["properties"]) || schema["anyOf"] !== undefined || types.includes("object");
  if (isWhole || types.length === 0) return { output: schema, response: { empty: {} }, accept };
  const under = types.includes("array") ? "items" : "value";
  return { output: { type: "object", properties: { [under]: schema } }, response: { under, empty: {} }, accept };
}
