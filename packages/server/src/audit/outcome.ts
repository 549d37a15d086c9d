import { Fault } from "@svc/core";

/** How the audit log calls the end of what rejected: the code of its fault, or `internal`. */
export function outcomeOf(error: unknown): string {
  return error instanceof Fault ? error.code : "internal";
}
