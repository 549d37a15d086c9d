import { formatValue, isEntityId } from "@svc/core";
import { invalidParams, type McpError } from "./request.ts";

/** Options that a client puts into the query of its MCP address. */
export type McpAddress = {
  /** Toolkits whose tools are listed directly to the client. Each tool has its own schema. */
  readonly toolkits: readonly string[];
  /**
   * Slugs of tools that are listed directly to the MCP client. Names of meta-tools (such as `search_tools`, through which a client reaches
   * all tools) are allowed as well.
   */
  readonly tools: readonly string[];
  /** Entity (customer or user) whose accounts the directly listed tools use. If empty, the default entity is used. */
  readonly entityId: string;
};

const namesMax = 100;
const parameters = ["toolkits", "tools", "entity_id"] as const;

/**
 * Returns the options in the query of an MCP address (for example `toolkits=calendar,mail&entity_id=ada`). Returns an error if the query is
 * wrong, for example if it has an unknown parameter.
 */
export function readAddress(query: string): McpAddress | { readonly error: McpError } {
  const given = new URLSearchParams(query);
  for (const name of given.keys()) {
    if (!(parameters as readonly string[]).includes(name)) return wrong(`has a parameter ${formatValue(name)}`);
    if (given.getAll(name).length > 1) return wrong(`has ${name} twice`);
  }
  const namesOf = (name: "toolkits" | "tools") => (given.get(name) ?? "").split(",").filter(Boolean);
  const [toolkits, tools, entityId] = [namesOf("toolkits"), namesOf("tools"), given.get("entity_id") ?? ""];
  if (toolkits.length + tools.length > namesMax) return wrong(`names more than ${namesMax} toolkits and tools`);
  if (entityId !== "" && !isEntityId(entityId))
    return wrong("has an entity_id of more than 200 characters, or control ones");
  return { toolkits, tools, entityId };
}

const help =
  "It takes toolkits and tools, each a list of slugs with commas between, and entity_id; none of them twice.";

function wrong(why: string): { readonly error: McpError } {
  return { error: invalidParams(`The address ${why}. ${help}`, { reason: "ADDRESS_INVALID" }) };
}
