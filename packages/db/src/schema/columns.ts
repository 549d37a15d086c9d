import { type Id, type IdPrefix, idOfUuid, isoTime, parseExactJson, readTime, uuidOfId } from "@svc/core";
import { customType } from "drizzle-orm/pg-core";
import { type DocumentType, isVersionedText } from "../documents/document.ts";

/** A column that stores an id's UUID and reads as the id itself, so a row never shows a bare UUID. */
export function idColumn<P extends IdPrefix>(prefix: P) {
  return customType<{ data: Id<P>; driverData: string }>({
    dataType: () => "uuid",
    toDriver: (id) => uuidOfId(id),
    fromDriver: (uuid) => idOfUuid(prefix, uuid),
  });
}

/** A point in time, read and written as epoch milliseconds (PostgreSQL stores microseconds; svc never writes them). */
export const time = customType<{ data: number; driverData: string }>({
  dataType: () => "timestamp (3) with time zone",
  toDriver: (ms) => isoTime(ms),
  fromDriver: (text) => timeOfColumn(text),
});

/** Parses a time as PostgreSQL writes it in UTC, or as JSON has it, into epoch milliseconds. Throws an Error for any other text. */
export function timeOfColumn(text: string): number {
  const ms = readTime(text.replace(" ", "T").replace(/\+00$/, "Z"));
  if (ms === undefined) throw new Error(`${JSON.stringify(text)} is no time of the years 1 to 9999`);
  return ms;
}

/** Raw bytes: digests and sealed values. */
export const bytes = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => "bytea" });

/** One of a set of words. Reading any other word throws an Error: a newer version wrote the row. */
export function oneOf<const Word extends string>(words: readonly Word[]) {
  const known = new Map<string, Word>(words.map((word) => [word, word]));
  return customType<{ data: Word; driverData: string }>({
    dataType: () => "text",
    fromDriver(text) {
      const word = known.get(text);
      if (word === undefined) throw new Error(`${JSON.stringify(text)} is none of ${words.join(", ")}`);
      return word;
    },
  });
}

// Stored documents were written by JSON.stringify, so their depth is already limited.
const unbounded = { depthMax: Number.POSITIVE_INFINITY };

/** A document as JSON, with all digits of its numbers, decoded by its type. */
export function document<T>(type: DocumentType<T>) {
  return customType<{ data: T; driverData: unknown }>({
    dataType: () => "jsonb",
    toDriver: (value) => type.write(value),
    fromDriver: (stored) => type.read(isJson(stored) ? parseExactJson(stored, unbounded) : stored),
  });
}

/** True if the driver returned the text of a document. Some statements read several columns as one JSON, which is already parsed. */
function isJson(stored: unknown): stored is string {
  return typeof stored === "string" && !isVersionedText(stored);
}
