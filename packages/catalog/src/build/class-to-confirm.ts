import { isObject } from "@svc/core";
import type { Action, Tool } from "../model.ts";
import type { AccessClass, JsonSchema } from "../read/documents.ts";

/** The parts of a tool that decide if a person confirms its calls. */
type JudgedTool = Pick<Tool, "class" | "ownerProjectId"> & Partial<Pick<Action, "request">>;

/**
 * Returns the class by which a person confirms calls of a tool. For a private toolkit, the publisher may also be the caller, so its
 * declaration that a request loses nothing does not count: every method except GET is destructive. For the deployment's own definitions,
 * the declared class counts.
 */
export function classToConfirm({ class: declared, ownerProjectId, request }: JudgedTool): AccessClass {
  if (ownerProjectId === "" || request === undefined || request.method === "GET") return declared;
  return "destructive";
}

/**
 * Returns the input schema of a destructive tool, whose calls need confirmation until `confirm` is true. `confirm` is not part of any
 * request.
 */
export function withConfirm(input: JsonSchema, confirm: JsonSchema): JsonSchema {
  const properties = isObject(input.properties) ? input.properties : {};
  return { ...input, properties: { ...properties, confirm } };
}
