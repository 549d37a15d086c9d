import { isRawJson, type ProjectId, parseExactJson, type Sealer } from "@svc/core";
import type { AskRecord } from "@svc/db/asks/repo";

const depthMax = 32;

/**
 * Returns the value of a JSON text. Keeps all digits of its numbers, which JSON.parse would round. Returns undefined if the text is not
 * JSON, or if an object in it repeats a name.
 */
export function readJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: parseExactJson(text, { hasUniqueNames: true }) };
  } catch {
    // The parser's own error is dropped. The caller reports both reasons.
    return undefined;
  }
}

/** Text for error messages that describes a value that `isStorable` refuses. */
export const unstorable =
  "nests too deep, contains U+0000 or a lone surrogate in a text, or a number of more than 1,000 characters or with an exponent above 999";

/**
 * True if the database can store the JSON value and svc can send it. The value may have at most 32 levels of nesting. PostgreSQL must be
 * able to store its numbers. Its texts must not contain U+0000 or unpaired surrogates.
 */
export function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\0");
  if (typeof value !== "object" || value === null) return true;
  if (isRawJson(value)) return isStorableNumber(JSON.stringify(value));
  if (depth > depthMax) return false;
  return Object.entries(value).every(([name, item]) => isStorable(name) && isStorable(item, depth + 1));
}

/** True if PostgreSQL can store the number. It stores decimals of up to 131,072 digits before the point and 16,383 after it. */
function isStorableNumber(text: string): boolean {
  return text.length <= 1_000 && !/[eE][+-]?0*[1-9]\d{3}/.test(text);
}

type Sealed = Pick<AskRecord, "id" | "projectId">;

/**
 * Returns the encrypted form of the new values (overrides) that an answer contains. The encrypted values can be decrypted only for the ask
 * (the question) that was answered.
 */
export function sealOverrides(sealer: Sealer, ask: Sealed, overridesJson: string): Buffer {
  return sealer.seal(Buffer.from(overridesJson, "utf8"), contextOf(ask));
}

/**
 * Returns the changes of arguments (overrides) that a person gave in the answer to a question, decrypted and otherwise unchanged. Throws
 * SealError if they cannot be decrypted.
 */
export function openOverrides(sealer: Sealer, ask: Sealed, sealed: Uint8Array): string {
  return sealer.open(sealed, contextOf(ask)).toString("utf8");
}

function contextOf({ projectId, id }: { readonly projectId: ProjectId; readonly id: string }): string {
  return `${projectId}/job_asks/${id}`;
}
