import { isObject } from "@svc/core";
import type { Action, Tool } from "../model.ts";
import type { AccessClass, JsonSchema } from "../read/documents.ts";

/** The parts of a tool that decide if a person confirms its calls. */
type JudgedTool = Pick<Tool, "class" | "ownerProjectId"> & Partial<Pick<Action, "request">>;

/**
 * Returns the class by which a person confirms calls of a tool. A private toolkit may be published by who then calls it, so its word that a
 * request loses nothing does not count: whatever is not a GET is destructive. The word of a definition of the deployment counts.
 */
export function classToConfirm({ class: declared, ownerProjectId, request }: JudgedTool): AccessClass {
  if (ownerProjectId === "" || request === undefined || request.method === "GET") return declared;
  return "destructive";
}

/** The input schema of a destructive tool, whose calls are held until `confirm` is true; it is part of no request. */
export function withConfirm(input: JsonSchema, confirm: JsonSchema): JsonSchema {
  const properties = isObject(input.properties) ? input.properties : {};
  return { ...input, properties: { ...properties, confirm } };
}
