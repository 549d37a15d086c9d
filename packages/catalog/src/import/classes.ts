import type { AccessClass } from "../read/documents.ts";
import type { OperationMethod } from "./select.ts";
import { wordsOf } from "./texts.ts";

/** Verbs that take something away, or that cannot be undone. */
const destructiveVerbs = new Set(
  [
    "archive cancel clear close deactivate delete deny destroy detach disable disconnect discard drop erase",
    "evict expire invalidate kill logout merge purge reboot refund reject remove reset restart restore",
    "revoke rollback rotate shutdown stop suspend terminate transfer truncate unassign uninstall unlink unpublish unsubscribe",
    "void wipe withdraw",
  ].flatMap((words) => words.split(" ")),
);

/** Last words of a path by which a GET changes something. */
const changingGets = new Set(["delete", "remove", "revoke", "cancel", "logout", "unsubscribe"]);

/** Words by which a POST may only read. */
const readingVerbs = new Set(
  [
    "calculate check compare count describe diff estimate evaluate export fetch find get list lookup",
    "match preview query read render retrieve search suggest validate verify",
  ].flatMap((words) => words.split(" ")),
);

/** An operation as the choice of its class sees it. `id`: the operationId of the document, or an empty text. */
type Classed = { readonly method: OperationMethod; readonly path: string; readonly id: string };

/** Returns the access class of an operation, by its method and by the verbs of its id and of the last word of its path. */
export function classOf({ method, path, id }: Classed): AccessClass {
  const last = lastWords(path);
  if (method === "GET")
    return last.some((word) => changingGets.has(word)) && last.length === 1 ? "destructive" : "read";
  if (method === "DELETE") return "destructive";
  return [...last, ...wordsOf(id)].some((word) => destructiveVerbs.has(word)) ? "destructive" : "write";
}

/** True if a POST probably only reads. svc only suggests the class `read`, because a wrong guess would send changes without a question. */
export function mayOnlyRead({ method, path, id }: Classed): boolean {
  if (method !== "POST") return false;
  const [first = ""] = wordsOf(id.split(/[./]/).at(-1) ?? "");
  return readingVerbs.has(first) || lastWords(path).some((word) => readingVerbs.has(word));
}

function lastWords(path: string): string[] {
  const segment = path.split("/").findLast((part) => part !== "" && !part.startsWith("{"));
  return wordsOf((segment ?? "").replaceAll(/\{[^}]*\}/g, " "));
}
