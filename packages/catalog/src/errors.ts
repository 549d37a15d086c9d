import { Code, type ConnectError } from "@connectrpc/connect";
import { fault, formatValue } from "@svc/core";

/** The catalog calls' projectId names a project other than the key's own, which reads as missing. */
export function projectNotFound(projectId: string): ConnectError {
  return fault({
    code: Code.NotFound,
    reason: "PROJECT_NOT_FOUND",
    field: "projectId",
    message: `projectId ${formatValue(projectId)} is not a project of this key`,
    help: "Leave projectId empty for the shared catalog, or send the id of the key's own project.",
  });
}

/** No toolkit of the catalog that the caller sees has the slug. */
export function toolkitNotFound(slug: string): ConnectError {
  return fault({
    code: Code.NotFound,
    reason: "TOOLKIT_NOT_FOUND",
    field: "slug",
    message: `slug ${formatValue(slug)} is not a toolkit of the catalog`,
    help: "ListToolkits lists the slugs.",
  });
}

/** No tool of the catalog that the caller sees has the slug. */
export function toolNotFound(slug: string): ConnectError {
  return fault({
    code: Code.NotFound,
    reason: "TOOL_NOT_FOUND",
    field: "slug",
    message: `slug ${formatValue(slug)} is not a tool of the catalog`,
    help: "Send a catalog-wide slug of the form <toolkit>.<tool>; ListTools lists them.",
  });
}
