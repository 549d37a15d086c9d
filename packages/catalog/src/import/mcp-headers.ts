import { isObject } from "@svc/core";
import type { DocumentNode } from "./read.ts";

const keyword = "x-mcp-header";
/** Keywords of a schema whose values are data, not schemas. */
const dataKeywords = ["const", "default", "enum", "examples"];

/**
 * True if an MCP tool's input schema has only valid `x-mcp-header` keywords. Such a keyword asks the client to repeat an argument in an
 * HTTP header (MCP 2026-07-28). The specification forbids clients to offer a tool with an invalid one. The schema must be small, because
 * this function is recursive.
 */
export function hasAllowedHeaders(schema: DocumentNode): boolean {
  return areAllowed(schema, { names: new Set(), isArgument: false, isNamed: true });
}

/**
 * A place in an input schema. `names`: headers of the places before, in lower case. `isArgument`: true for the schema of an argument, or of
 * a property of one. `isNamed`: true if only `properties` lead to the place.
 */
type Place = { readonly names: Set<string>; readonly isArgument: boolean; readonly isNamed: boolean };

function areAllowed(schema: DocumentNode, place: Place): boolean {
  const { names, isNamed } = place;
  if (Object.hasOwn(schema, keyword) && !isAllowed(schema, place)) return false;
  return Object.entries(schema).every(([name, child]) => {
    if (dataKeywords.includes(name) || typeof child !== "object" || child === null) return true;
    const isProperties = name === "properties" && isNamed;
    const inner = { names, isArgument: isProperties, isNamed: isProperties };
    // Lists and maps of schemas are read as schemas, too. No keyword for a header is on their own level.
    return Object.values(name === "properties" || Array.isArray(child) ? child : { child }).every(
      (part) => !isObject(part) || areAllowed(part, inner),
    );
  });
}

/** True if the header of a schema is one that MCP allows at this place. Adds it to the names. */
function isAllowed({ [keyword]: header, type }: DocumentNode, { names, isArgument }: Place): boolean {
  if (!isArgument || typeof header !== "string" || !/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(header)) return false;
  if (type !== "string" && type !== "integer" && type !== "boolean") return false;
  const count = names.size;
  return names.add(header.toLowerCase()).size > count;
}
