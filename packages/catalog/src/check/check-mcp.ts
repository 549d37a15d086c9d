import { formatValue } from "@svc/core";
import { faultOfBaseUrl } from "../build/base-url.ts";
import { isTemplateName } from "../build/mcp-request.ts";
import type { DefinitionFile } from "../read/definition-file.ts";
import type { ActionDocument, JsonSchema, ToolkitDocument } from "../read/documents.ts";
import { declares } from "./check-toolkit.ts";

/**
 * Checks that a toolkit names exactly one address for its calls: `baseUrl` for HTTP requests, or `mcp` for an MCP server. Checks the address
 * of the MCP server. Records every error in `file`.
 */
export function checkAddresses(file: DefinitionFile, document: Partial<ToolkitDocument>): void {
  const { baseUrl, mcp } = document;
  if (mcp === undefined) {
    if (baseUrl !== undefined || declares(file, "baseUrl") || declares(file, "mcp")) return;
    const form =
      "an https address, or one that starts with {{deployment.provider_base_url}}; it may contain {{account.*}}";
    file.fault(["baseUrl"], "is missing", `add it: ${form}`);
    return;
  }
  checkMcpAddress(file, mcp.url);
  for (const key of ["baseUrl", "always", "account", "webhook"] as const) {
    if (declares(file, key)) file.fault([key], "is in a toolkit with an MCP server", "remove it");
  }
}

/** Checks the address of an MCP server: an https address without placeholders. Records an error in `file` if it is not one. */
export function checkMcpAddress(file: DefinitionFile, url: string): void {
  if (url.includes("{{")) {
    file.fault(["mcp", "url"], `${formatValue(url)} has a placeholder`, "write the address in full");
    return;
  }
  const fault = faultOfBaseUrl(url.replace(/\/$/, ""));
  if (fault !== undefined) file.fault(["mcp", "url"], ...fault);
}

/** Keys of an action that describe an HTTP request or its answer. An action that calls a tool of an MCP server has none of them. */
const httpKeys = ["request", "response", "idempotency"] as const;

/**
 * Checks that an action has either `request` or `mcp`, and that the arguments of an action with `mcp` can be sent to the MCP server. Records
 * every error in `file`.
 */
export function checkRequestKind(file: DefinitionFile, document: Partial<ActionDocument>): void {
  const { mcp, input } = document;
  if (mcp === undefined) {
    if (!declares(file, "request") && !declares(file, "mcp"))
      file.fault(["request"], "is missing", "add it: the HTTP call");
    return;
  }
  for (const key of httpKeys) {
    if (declares(file, key)) file.fault([key], "is in a tool of an MCP server", "remove it");
  }
  const names = Object.keys(propertiesOf(input ?? {}));
  if (mcp.argument !== undefined && (names.length !== 1 || names[0] !== mcp.argument)) {
    file.fault(["mcp", "argument"], `"${mcp.argument}" is not the only argument`, "name the only property of input");
  }
  const odd = names.find((name) => !isTemplateName(name));
  if (odd !== undefined) {
    file.fault(
      ["input", "properties"],
      `has the name ${formatValue(odd)}, which no template can name`,
      "write mcp.argument",
    );
  }
}

function propertiesOf(input: JsonSchema): object {
  return typeof input.properties === "object" && input.properties !== null ? input.properties : {};
}
