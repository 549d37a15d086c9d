import { type Id, type IdPrefix, idOfUuid, isoTime, parseExactJson, readTime, uuidOfId } from "@svc/core";
import { customType } from "drizzle-orm/pg-core";
import { type DocumentType, isVersionedText } from "../documents/document.ts";

/** Returns a column that stores an id's UUID. The column reads as the whole id, so a row never shows a bare UUID. */
export function idColumn<P extends IdPrefix>(prefix: P) {
  return customType<{ data: Id<P>; driverData: string }>({
    dataType: () => "uuid",
    toDriver: (id) => uuidOfId(id),
    fromDriver: (uuid) => idOfUuid(prefix, uuid),
  });
}

/** A point in time, read and written as epoch milliseconds. PostgreSQL could store microseconds, but svc never writes them. */
export const time = customType<{ data: number; driverData: string }>({
  dataType: () => "timestamp (3) with time zone",
  toDriver: (ms) => isoTime(ms),
  fromDriver: (text) => timeOfColumn(text),
});

/**
 * Parses a time in UTC, in PostgreSQL's form or in the form of JSON, and returns epoch milliseconds. Throws an Error for any other text.
 */
export function timeOfColumn(text: string): number {
  const ms = readTime(text.replace(" ", "T").replace(/\+00$/, "Z"));
  if (ms === undefined) throw new Error(`${JSON.stringify(text)} is not a time of the years 1 to 9999`);
  return ms;
}

/** Column type for raw bytes, such as digests and encrypted values. */
export const bytes = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => "bytea" });

/**
 * Returns a column type for one word of a fixed set. Reading any other word throws an Error, because only a newer version can have written
 * it.
 */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  const known = new Map<string, Word>(words.map((word) => [word, word]));
  return customType<{ data: Word; driverData: string }>({
    dataType: () => "text",
    fromDriver(text) {
      const word = known.get(text);
      if (word === undefined) throw new Error(`${JSON.stringify(text)} is not one of ${words.join(", ")}`);
      return word;
    },
  });
}

// Limits no depth. svc wrote the stored documents itself with JSON.stringify, so their depth is already limited.
const unbounded = { depthMax: Number.POSITIVE_INFINITY };

/** Returns a column type for a JSON document. `type` decodes the document; its numbers keep all digits. */
export function document<T>(type: DocumentType<T>) {
  return customType<{ data: T; driverData: unknown }>({
    dataType: () => "jsonb",
    toDriver: (value) => type.write(value),
    fromDriver: (stored) => type.read(isJson(stored) ? parseExactJson(stored, unbounded) : stored),
  });
}

/**
 * True if a column of a JSON document was read as text, so that it must be parsed. False if a statement read several columns as one JSON
 * value; the document is then already parsed.
 */
function isJson(stored: unknown): stored is string {
  return typeof stored === "string" && !isVersionedText(stored);
}
