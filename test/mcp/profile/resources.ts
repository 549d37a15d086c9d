import type { McpOutcome } from "@svc/tools";
import { png } from "./content.ts";

/** The suite's resources, in the form of resources/list. */
export const listedResources = [
  { uri: "test://static-text", name: "text", description: "A text.", mimeType: "text/plain" },
  { uri: "test://static-binary", name: "binary", description: "A picture.", mimeType: "image/png" },
  { uri: "test://watched-resource", name: "watched", description: "A text.", mimeType: "text/plain" },
];

/** The suite's resource that takes a parameter. */
export const listedTemplates = [
  { uriTemplate: "test://template/{id}/data", name: "template", description: "Data.", mimeType: "application/json" },
];

/** Answers resources/read. */
export function readResource(uri: unknown): McpOutcome {
  const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(String(uri)) ?? [];
  const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
  if (id !== undefined) return contents({ uri, mimeType: "application/json", text: data });
  const found = listedResources.find((resource) => resource.uri === uri);
  if (found === undefined) {
    return { type: "error", error: { code: -32_602, message: "Resource not found", data: { uri } } };
  }
  const { mimeType } = found;
  return contents({
    uri,
    mimeType,
    ...(mimeType === "image/png" ? { blob: png } : { text: "This is the content of the static text resource." }),
  });
}

function contents(content: object): McpOutcome {
  return { type: "complete", result: { contents: [content] } };
}
