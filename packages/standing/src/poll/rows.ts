import { type JsonValue, type Path, valueAt } from "@svc/program";

/** Why the rows of an answer cannot be taken. */
export type RowsFault = { readonly code: "POLL_ROWS_INVALID" | "POLL_ID_MISSING"; readonly message: string };

/** The list of an answer; an app that leaves an empty list out has none. */
export function listOf(answer: JsonValue, path: Path): readonly JsonValue[] | RowsFault {
  const list = valueAt(answer, path);
  if (list === undefined || list === null) return [];
  if (Array.isArray(list)) return list as readonly JsonValue[];
  return { code: "POLL_ROWS_INVALID", message: `what the app answered at ${path.join(".") || "the top"} is no list` };
}
