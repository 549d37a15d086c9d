import { isObject } from "@svc/core";
import type { Action, Tool } from "../model.ts";
import type { AccessClass, JsonSchema } from "../read/documents.ts";

/** The properties of a tool that decide whether a person must confirm its calls. */
type JudgedTool = Pick<Tool, "class" | "ownerProjectId"> & Partial<Pick<Action, "request">>;

/**
 * Returns the access class by which svc decides if a person must confirm calls of the tool. For a shared toolkit, it is the class that the
 * definition declares. For a tool of a private toolkit, it is `destructive` unless the HTTP method is GET. The reason: the project that
 * wrote a private toolkit can also be the caller, and could avoid a confirmation by declaring a destructive request as a read.
 */
export function classToConfirm({ class: declared, ownerProjectId, request }: JudgedTool): AccessClass {
  if (ownerProjectId === "" || request === undefined || request.method === "GET") return declared;
  return "destructive";
}

/**
 * Returns the input schema of a destructive tool with the argument `confirm` added. A call needs confirmation until `confirm` is true.
 * `confirm` is not part of the request to the app.
 */
export function withConfirm(input: JsonSchema, confirm: JsonSchema): JsonSchema {
  const properties = isObject(input.properties) ? input.properties : {};
  return { ...input, properties: { ...properties, confirm } };
}
