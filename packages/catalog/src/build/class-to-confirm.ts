import { isObject } from "@svc/core";
import type { Action, Tool } from "../model.ts";
import type { AccessClass, JsonSchema } from "../read/documents.ts";

/** The properties of a tool that decide whether a person must confirm its calls. */
type JudgedTool = Pick<Tool, "class" | "ownerProjectId"> & Partial<Pick<Action, "request">>;

/**
 * Returns the class that decides if a person must confirm calls of a tool. For the deployment's own definitions, this is the declared
 * class. For a private toolkit (published by a project for itself), every method except GET is destructive: the publisher may also be the
 * caller, so a declaration of a harmless request is not trusted.
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
