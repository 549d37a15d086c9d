import { parseExactJson } from "@svc/core";

/** A body parsed as JSON, with all digits of its numbers; undefined when it is empty or not JSON. */
export function parseJsonBody(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined; // a trigger may match by headers alone, and a proxy may answer in HTML
  }
}
