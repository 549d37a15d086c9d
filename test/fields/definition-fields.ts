import { readFileSync } from "node:fs";
import { fieldsOf, type Schema } from "./schema-fields.ts";

function read(name: string): Schema {
  const path = new URL(`../../packages/catalog/src/schemas/${name}.schema.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf8"));
}

/** Lists the fields of some definitions of a schema, each definition below its own name. */
function fieldsIn(schema: Schema, names: readonly string[], apart: readonly string[] = []): string[] {
  const definitions = schema["$defs"] as Readonly<Record<string, Schema>>;
  return names.flatMap((name) =>
    fieldsOf(schema, { name, schema: definitions[name] ?? {}, apart: [...apart, "schema", "fields", "conditions"] }),
  );
}

/** Every field of the definition of a tool. */
export const toolFields = fieldsIn(read("tool"), ["action", "trigger"]);
const schemes = [
  "oauth2",
  "apiKey",
  "basic",
  "none",
  "clientCredentials",
  "accountVariable",
  "hmacSha256",
  "slackV0",
  "tokenQuery",
  "handshake",
];
const toolkit = read("toolkit");
/** Every field of the definition of a toolkit. */
export const toolkitFields = [
  ...fieldsOf(toolkit, { name: "toolkit", schema: toolkit, apart: [...schemes, "fields"] }),
  ...fieldsIn(toolkit, schemes, ["handshake"]),
];
/** Every field of the deployment file. */
export const deploymentFields = fieldsIn(read("deployment"), ["toolkit"]).map((field) =>
  field.replace(/^toolkit/, "deployment"),
);
