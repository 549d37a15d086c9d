import { confirmed, textFault } from "./arguments.ts";

/** A call that the page shows in other formats. `argumentsJson`: the JSON text of an object. */
export type SnippetCall = {
  readonly toolSlug: string;
  readonly entityId: string;
  readonly argumentsJson: string;
  readonly isDestructive: boolean;
  /** Address of the service (for example `http://127.0.0.1:8080`). */
  readonly url: string;
};

/** The formats in which the page of a tool can show a call as code: for the command line, curl, TypeScript and MCP. */
export const snippetKinds = ["cli", "curl", "typescript", "mcp"] as const;

/** A format (for example `cli` or `curl`) in which the console page of a tool can show a call of the tool. */
export type SnippetKind = (typeof snippetKinds)[number];

const writers: Record<SnippetKind, (call: SnippetCall) => string> = {
  cli: ({ toolSlug, entityId, argumentsJson, isDestructive }) =>
    [
      `npx svc call ${toolSlug}`,
      ...(entityId === "" ? [] : [`--entity ${quoted(entityId)}`]),
      `--args-json ${quoted(argumentsJson)}`,
      ...(isDestructive ? ["--confirm"] : []),
    ].join(" "),
  curl: (call) =>
    [
      `curl -s ${quoted(`${call.url}/svc.v1.ToolsService/CallTool`)} \\`,
      `  -H "Authorization: Bearer $SVC_API_KEY" -H "Content-Type: application/json" \\`,
      `  -d ${quoted(JSON.stringify({ toolSlug: call.toolSlug, entityId: call.entityId, argumentsJson: whole(call) }, undefined, 2))}`,
    ].join("\n"),
  typescript: (call) => `import { createSvcClient } from "@svc/sdk";

const { tools } = createSvcClient({ baseUrl: ${JSON.stringify(call.url)}, apiKey: process.env.SVC_API_KEY ?? "" });

const { outcome, resultJson, message } = await tools.callTool({
  toolSlug: ${JSON.stringify(call.toolSlug)},
  entityId: ${JSON.stringify(call.entityId)},
  argumentsJson: JSON.stringify(${whole(call)}),
});`,
  mcp: (call) =>
    `{
  "method": "tools/call",
  "params": {
    "name": "call_tool",
    "arguments": { "slug": ${JSON.stringify(call.toolSlug)}, "entity_id": ${JSON.stringify(call.entityId)}, "arguments": ${whole(call)} }
  }
}`,
};

/**
 * Returns the call as text in another format. The text of a destructive call contains the confirmation. Arguments that are not JSON become
 * `{}`.
 */
export function snippet(kind: SnippetKind, call: SnippetCall): string {
  const argumentsJson = textFault(call.argumentsJson) === undefined ? call.argumentsJson : "{}";
  return writers[kind]({ ...call, argumentsJson });
}

function whole({ argumentsJson, isDestructive }: SnippetCall): string {
  return isDestructive ? confirmed(argumentsJson) : argumentsJson;
}

/** Returns a word of a shell command, in single quotes if the shell needs them. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
