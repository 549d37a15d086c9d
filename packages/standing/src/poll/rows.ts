import { createHash } from "node:crypto";
import { isObject, scalarText } from "@svc/core";
import { canonicalJson, type JsonObject, type JsonValue, type Path, valueAt } from "@svc/program";
import type { WalkSpec } from "./spec.ts";

/** A row of a page. Digests are 16 bytes, in hex. */
export type PolledRow = {
  readonly digest: string;
  /** Of its kept fields; empty where nothing compares them. */
  readonly content: string;
  readonly row: JsonObject;
  readonly item: JsonValue;
};

/** Why the rows of an answer cannot be taken. */
export type RowsFault = { readonly code: "POLL_ROWS_INVALID" | "POLL_ID_MISSING"; readonly message: string };

/** The list of an answer; an app that leaves an empty list out has none. */
export function listOf(answer: JsonValue, path: Path): readonly JsonValue[] | RowsFault {
  const list = valueAt(answer, path);
  if (list === undefined || list === null) return [];
  if (Array.isArray(list)) return list as readonly JsonValue[];
  return { code: "POLL_ROWS_INVALID", message: `what the app answered at ${path.join(".") || "the top"} is no list` };
}

/** The row of an item: its id and what runs are given of it. */
export function rowOf(
  item: JsonValue,
  index: number,
  { id, keep, findsChanged }: Pick<WalkSpec, "id" | "keep" | "findsChanged">,
): PolledRow | RowsFault {
  const value = valueAt(item, id);
  const text = value === undefined || value === null ? undefined : scalarText(value);
  if (text === undefined || text === "") {
    const message = `row ${index + 1} of a page has no text or number at ${id.join(".")}`;
    return { code: "POLL_ID_MISSING", message };
  }
  const row = keptOf(item, keep);
  return { digest: digestOf(text), content: findsChanged ? digestOf(canonicalJson(row)) : "", row, item };
}

function keptOf(item: JsonValue, keep: readonly string[] | undefined): JsonObject {
  if (!isObject(item)) return { value: item };
  const fields = item as JsonObject;
  if (keep === undefined) return fields;
  return Object.fromEntries(
    keep.flatMap((name) => (Object.hasOwn(fields, name) ? [[name, fields[name] ?? null]] : [])),
  );
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
