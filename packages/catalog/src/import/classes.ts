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
 * Beginnings of German, French and Spanish verbs of the same meaning, as they are written without accents. They match all forms of a verb.
 */
const destructiveStems = new RegExp(
  `^(?:${[
    "loesch entfern(?!ung) stornier storno kuendig widerruf abbrech abbruch zuruecksetz deaktivier sperr vernicht verwerf bereinig",
    "archivier erstatt supprim effac annul retirer resilier revoqu detrui vider desactiv rembours",
    "elimin borra borrar cancela anula quita revoca destru vacia desactiva reembols",
  ]
    .join(" ")
    .replaceAll(" ", "|")})`,
);

function isDestructiveVerb(word: string): boolean {
  return destructiveVerbs.has(word) || destructiveStems.test(word);
}

/**
 * Returns the first word of a text that is a verb for removing something, such as `delete` or `cancel`, in English, German, French or
 * Spanish.
 */
export function destructiveVerbIn(text: string): string | undefined {
  return wordsOf(text.slice(0, 500)).find((word) =>
    [word, word.replace(/s$/, ""), word.replace(/es$/, "")].some(isDestructiveVerb),
  );
}

/**
 * Words at the end of a path which show that even a GET changes something. An imported GET operation with such a path gets the access class
 * `destructive`.
 */
const changingGets = new Set(
  [
    "delete remove revoke cancel logout unsubscribe loeschen entfernen stornieren kuendigen abbrechen",
    "supprimer effacer annuler eliminar borrar cancelar anular",
  ].flatMap((words) => words.split(" ")),
);

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
  return [...last, ...wordsOf(id)].some(isDestructiveVerb) ? "destructive" : "write";
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

/**
 * True if a GET operation probably removes something: its id begins with an English verb such as `delete`, or its id or last path word is
 * such a verb of another language. Its access class stays `read`, and svc only suggests `destructive` to the person who imports.
 */
export function mayTakeAway({ method, path, id }: Classed): boolean {
  if (method !== "GET") return false;
  const words = wordsOf(id.split(/[./]/).at(-1) ?? "");
  return (
    destructiveVerbs.has(words[0] ?? "") || [...words, ...lastWords(path)].some((word) => destructiveStems.test(word))
  );
}

/** Returns the words of the last segment of a path that has any, without parameters: of `/orders/{id}:cancel`, the word `cancel`. */
function lastWords(path: string): string[] {
  const segments = path.split("/").map((segment) => wordsOf(segment.replaceAll(/\{[^}]*\}/g, " ")));
  return segments.findLast((words) => words.length > 0) ?? [];
}
