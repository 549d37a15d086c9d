import { createHash } from "node:crypto";
import { isObject } from "@svc/core";
import type { JsonSchema, McpToolDocument, RequestDocument, ResponseDocument } from "../read/documents.ts";

/**
 * Returns the HTTP request of an action that calls a tool of an MCP server: the message `tools/call` with the action's arguments. `input`:
 * the input schema of the action.
 */
export function mcpRequest({ tool, argument }: McpToolDocument, input: JsonSchema): RequestDocument {
  const names = Object.keys(isObject(input.properties) ? input.properties : {});
  const placeholderOf = (name: string) => `{{params[${JSON.stringify(name)}]}}`;
  const args =
    argument === undefined
      ? Object.fromEntries(names.map((name) => [name, placeholderOf(name)]))
      : placeholderOf(argument);
  const params = { name: literal(tool), arguments: args };
  return { method: "POST", path: "", body: { jsonrpc: "2.0", id: 1, method: "tools/call", params } };
}

/** Returns a text as a template that stands for the text itself. */
function literal(text: string): string {
  return text.replaceAll("{{", "{{{{");
}

/**
 * How svc reads the result of a tool of an MCP server. The transport puts the result, or the error of the tool, into one JSON object.
 */
export const mcpResponse: ResponseDocument = {
  unwrap: "result",
  error: { path: "error", message: "error.message" },
};

/** True if a template can name a tool's argument with this name, so that the argument can be sent to an MCP server by its own name. */
export function isTemplateName(name: string): boolean {
  return /^[^"|{}\\\p{Cc}]{1,100}$/u.test(name) && name !== "__proto__";
}

/** Largest tool that gets a digest: its values, and the characters of its names, texts and long numbers together. */
const [valuesMax, charactersMax] = [5_000, 65_536];

/**
 * Returns a SHA-256 (hexadecimal) of a tool as an MCP server described it. The order of object members does not change it, everything else
 * does. Returns undefined for a tool of more than 5,000 values or 64 KiB: svc neither imports nor calls it.
 */
export function mcpToolDigest(tool: unknown): string | undefined {
  if (!isWithinLimits(tool)) return undefined;
  const text = JSON.stringify(tool, (_key, value: unknown) => {
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
  return createHash("sha256").update(text).digest("hex");
}

/** True if a value is small enough for a digest. It stops at the first value that is too many, so a large value costs no more. */
function isWithinLimits(given: unknown): boolean {
  const waiting: unknown[] = [given];
  let characters = 0;
  for (let values = 1; waiting.length > 0; values++) {
    if (values + waiting.length > valuesMax || characters > charactersMax) return false;
    const value = waiting.pop();
    if (typeof value === "string") characters += value.length;
    if (typeof value !== "object" || value === null) continue;
    const members = Array.isArray(value) ? value : Object.values(value);
    if (members.length > valuesMax) return false;
    waiting.push(...members);
    if (members !== value) for (const name of Object.keys(value)) characters += name.length;
  }
  return characters <= charactersMax;
}
