import type { Action } from "@svc/catalog";
import { argumentSchema } from "@svc/jobs";
import type { JsonObject } from "@svc/program";
import type { WalkSpec } from "./spec.ts";

const pageRowsMax = 500;

/** A page has as many rows as it may, where the tool says how many that is and the call does not say how many it wants. */
export function withPageSize({ paging, size }: WalkSpec, action: Action, args: JsonObject): JsonObject {
  const name = size ?? (paging === undefined || paging.kind === "token" ? undefined : paging.size);
  if (name === undefined || Object.hasOwn(args, name)) return args;
  const most = argumentSchema(action, name)?.maximum;
  return typeof most === "number" ? { ...args, [name]: Math.min(most, pageRowsMax) } : args;
}
