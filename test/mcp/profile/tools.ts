import type { McpContext, McpOutcome } from "@svc/tools";
import { audio, embedded, image, text } from "./content.ts";
import { type Asked, inputTools } from "./input-tools.ts";
import { taskTools } from "./task-tools.ts";

type Params = Readonly<Record<string, unknown>>;

/** A tool of the suite, which answers at once or after a while. */
export type ProfileTool = (params: Asked, context: McpContext) => McpOutcome | Promise<McpOutcome>;

const answered = (...content: object[]): McpOutcome => ({ type: "complete", result: { content } });
const always =
  (...content: object[]): ProfileTool =>
  () =>
    answered(...content);

/** A schema that tools/list must return unchanged. */
const wideSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  ...{
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ["phone"] },
  },
  else: { required: ["email"] },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  additionalProperties: false,
};
const schemas: Readonly<Record<string, object>> = { json_schema_2020_12_tool: wideSchema };

const tools: Readonly<Record<string, ProfileTool>> = {
  test_simple_text: always(text("This is a simple text response for testing.")),
  test_image_content: always(image),
  test_audio_content: always(audio),
  test_embedded_resource: always(embedded("test://embedded-resource", "text/plain", "This is an embedded resource.")),
  test_multiple_content_types: always(
    text("Multiple content types test:"),
    image,
    embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ),
  test_error_handling: () => ({
    type: "complete",
    result: { content: [text("This tool intentionally returns an error for testing")], isError: true },
  }),
  test_tool_with_progress({ _meta: { progressToken } = {} }, { notify }) {
    for (const progress of [0, 50, 100]) notify("notifications/progress", { progressToken, progress, total: 100 });
    return answered(text("done"));
  },
  test_tool_with_logging(_params, { notify }) {
    for (const data of ["Tool execution started", "Tool processing data", "Tool execution completed"])
      notify("notifications/message", { level: "info", data });
    return answered(text("done"));
  },
  test_logging_tool({ _meta: meta = {} }, { notify }) {
    if (meta["io.modelcontextprotocol/logLevel"] !== undefined)
      notify("notifications/message", { level: "info", data: "logged" });
    return answered(text("done"));
  },
  json_schema_2020_12_tool: always(text("done")),
  ...inputTools,
};

/** The suite's tools, in the form of tools/list. */
export const listedTools: readonly Params[] = Object.keys({ ...tools, ...taskTools }).map((name) => ({
  name,
  description: `What the conformance suite calls ${name}.`,
  inputSchema: schemas[name] ?? { type: "object" },
}));

/** Returns the suite's tool of that name. */
export function findTool(name: unknown): ProfileTool | undefined {
  return typeof name === "string" && Object.hasOwn(tools, name) ? tools[name] : undefined;
}
