import { isObject, type JsonObject, type Quotas } from "@svc/core";

/** A kind of document in a jsonb column. */
export type DocumentType<T> = {
  /** Its column, as errors name it: `jobs.park`. */
  readonly name: string;
  /** Decodes a document of any version up to this code's into the current form. Throws an Error that names the column for anything else. */
  read(stored: unknown): T;
  /** Returns the document as JSON text in the current version. */
  write(document: T): string;
};

/** Converts one stored version into the current form. */
export type DocumentReader<T> = (stored: Readonly<Record<string, unknown>>) => T;

/** Reads a version whose form is the current one. The only place where stored data is cast to its type. */
export function asWritten<T>(stored: Readonly<Record<string, unknown>>): T {
  return stored as T;
}

/**
 * Makes a document type. `readers` are those of versions 1, 2 and so on; the last version is written. From version 2 on, the document
 * contains its version as `v`. If `stored` returns a text, the document is stored as its version and that text, and the reader gets the
 * text as `p`: an object of two fields would cost 24 more bytes.
 */
export function documentType<T extends object>(
  name: string,
  readers: readonly [DocumentReader<T>, ...DocumentReader<T>[]],
  stored: (document: T) => object | string = (document) => document,
): DocumentType<T> {
  return {
    name,
    read(stored) {
      if (typeof stored === "string" && isVersionedText(stored)) {
        const version = Number.parseInt(stored, 10);
        const reader = readers[version - 1];
        if (reader === undefined) throw unknownVersion(name, version, readers.length);
        return reader({ p: stored.slice(String(version).length) });
      }
      if (!isObject(stored)) throw new Error(`${name} holds ${typeNameOf(stored)}, not an object`);
      if (stored["v"] === undefined) return readers[0](stored);
      const { v: version, ...document } = stored;
      const reader = typeof version === "number" ? readers[version - 1] : undefined;
      if (reader === undefined) throw unknownVersion(name, version, readers.length);
      return reader(document);
    },
    write(document) {
      const made = stored(document);
      if (typeof made === "string") return JSON.stringify(`${readers.length}${made}`);
      return JSON.stringify(readers.length === 1 ? made : { v: readers.length, ...made });
    },
  };
}

/** True if a text is a document stored as text, and not the JSON of one. */
export function isVersionedText(text: string): boolean {
  const first = text.charCodeAt(0);
  return first >= 0x31 && first <= 0x39;
}

/** Makes the type of a list of documents, each with its own version, because entries are added to a list that an older version began. */
export function documentList<T>(entry: DocumentType<T>): DocumentType<readonly T[]> {
  return {
    name: entry.name,
    read(stored) {
      if (!Array.isArray(stored)) throw new Error(`${entry.name} holds ${typeNameOf(stored)}, not a list`);
      return stored.map((one) => entry.read(one));
    },
    write: (entries) => `[${entries.map((one) => entry.write(one)).join(",")}]`,
  };
}

/** Makes the type of a JSON object whose names svc does not choose. It has no version, because `v` may be one of the names. */
export function plainDocument<T extends object = JsonObject>(name: string): DocumentType<T> {
  return {
    name,
    read(stored) {
      if (!isObject(stored)) throw new Error(`${name} holds ${typeNameOf(stored)}, not an object`);
      return asWritten<T>(stored);
    },
    write: (document) => JSON.stringify(document),
  };
}

function typeNameOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return value === null ? "null" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function unknownVersion(name: string, version: unknown, known: number): Error {
  return new Error(
    `${name} is stored in version ${JSON.stringify(version)}, and this version of svc reads up to ${known}: a newer one wrote it`,
  );
}

/** How `project_policies.quotas` is stored: the configured ones, by name. */
export const quotasDocument = documentType<Quotas>("project_policies.quotas", [asWritten]);

/** Texts by names that svc does not choose. */
type TextsDocument = Readonly<Record<string, string>>;

/** How `connected_accounts.variables` is stored: by the names the toolkit declares. */
export const variablesDocument = plainDocument<TextsDocument>("connected_accounts.variables");

/** How `quarantined_posts.headers` is stored. */
export const headersDocument = plainDocument<TextsDocument>("quarantined_posts.headers");

/** How `quarantined_posts.query` is stored. */
export const queryDocument = plainDocument<TextsDocument>("quarantined_posts.query");
