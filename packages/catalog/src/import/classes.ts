import type { AccessClass } from "../read/documents.ts";
import type { OperationMethod } from "./select.ts";
import { wordsOf } from "./texts.ts";

/**
 * Verbs of operations that take something away or that cannot be undone. An imported operation with such a verb gets the access class
 * `destructive`.
 */
const destructiveVerbs = new Set(
  [
    "archive cancel clear close deactivate delete deny destroy detach disable disconnect discard drop erase",
    "evict expire invalidate kill logout merge purge reboot refund reject remove reset restart restore",
    "revoke rollback rotate shutdown stop suspend terminate transfer truncate unassign uninstall unlink unpublish unsubscribe",
    "void wipe withdraw",
  ].flatMap((words) => words.split(" ")),
);

/**
 * Words at the end of a path which show that even a GET changes something. An imported GET operation with such a path gets the access class
 * `destructive`.
 */
const changingGets = new Set(["delete", "remove", "revoke", "cancel", "logout", "unsubscribe"]);

/** Words in the name or path of a POST operation which show that the operation probably reads and changes nothing. */
const readingVerbs = new Set(
  [
    "calculate check compare count describe diff estimate evaluate export fetch find get list lookup",
    "match preview query read render retrieve search suggest validate verify",
  ].flatMap((words) => words.split(" ")),
);

/** The parts of an operation that decide its access class. `id`: the operationId of the operation in the document, or an empty text. */
type Classed = { readonly method: OperationMethod; readonly path: string; readonly id: string };

/**
 * Returns the access class of an imported operation. The class follows from the HTTP method and from the verbs in the operation's id and in
 * the last word of its path.
 */
export function classOf({ method, path, id }: Classed): AccessClass {
  const last = lastWords(path);
  if (method === "GET")
    return last.some((word) => changingGets.has(word)) && last.length === 1 ? "destructive" : "read";
  if (method === "DELETE") return "destructive";
  return [...last, ...wordsOf(id)].some((word) => destructiveVerbs.has(word)) ? "destructive" : "write";
}

/**
 * True if a POST operation probably only reads. Its access class stays unchanged, and svc only suggests `read` to the person who imports.
 * If svc set `read` itself and was wrong, changes would be sent without a person's confirmation.
 */
export function mayOnlyRead({ method, path, id }: Classed): boolean {
  if (method !== "POST") return false;
  const [first = ""] = wordsOf(id.split(/[./]/).at(-1) ?? "");
  return readingVerbs.has(first) || lastWords(path).some((word) => readingVerbs.has(word));
}

function lastWords(path: string): string[] {
  const segment = path.split("/").findLast((part) => part !== "" && !part.startsWith("{"));
  return wordsOf((segment ?? "").replaceAll(/\{[^}]*\}/g, " "));
}
