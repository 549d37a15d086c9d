import type { ToolRequest } from "@svc/gen/tools";
import { prettyJson } from "../../../words/pretty-json.ts";

/** A request to an app, as it goes over the wire: line, headers, body. A body of JSON is laid out. */
export function requestText({
  method,
  url,
  headers,
  bodyJson,
}: Pick<ToolRequest, "method" | "url" | "headers" | "bodyJson">): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`${method} ${url}`, ...lines, ...(bodyJson === "" ? [] : ["", prettyJson(bodyJson)])].join("\n");
}
