import { isObject, type JsonObject, type Quotas } from "@svc/core";

/** A kind of document that a jsonb column keeps. */
export type DocumentType<T> = {
  /** The column it stands in, as errors name it: `jobs.park`. */
  readonly name: string;
  /** What a row of any version up to this code's says, in today's form. Throws an Error that names the column for anything else. */
  read(stored: unknown): T;
  /** JSON text of the document, as the version of today is stored. */
  write(document: T): string;
};

/** Turns what one version stored into today's form. */
export type DocumentReader<T> = (stored: Readonly<Record<string, unknown>>) => T;

/** The reader of a version whose form is that of today. The one place where what is stored is taken for its type. */
export function asWritten<T>(stored: Readonly<Record<string, unknown>>): T {
  return stored as T;
}

/**
 * A document of a type of its own. `readers` are those of versions 1, 2 and so on, the last one being what is written. A
 * version beyond the first stands in the document as `v`; version 1 has no such field. What `stored` makes a text of is kept as that
 * text behind its version, which its reader is given as `p`: an object of two fields costs 24 bytes more.
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

/** Whether a text is a document that is kept as a text, and not the JSON of one. */
export function isVersionedText(text: string): boolean {
  const first = text.charCodeAt(0);
  return first >= 0x31 && first <= 0x39;
}

/** A list of documents, each of which says its own version: entries are added to a list that an earlier version began. */
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

/** A JSON object whose names are not ours: it has no version, since `v` may be one of them. */
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

/** How `project_policies.quotas` is stored: by name, those that are set. */
export const quotasDocument = documentType<Quotas>("project_policies.quotas", [asWritten]);

/** Texts by names that are not ours. */
type TextsDocument = Readonly<Record<string, string>>;

/** How `connected_accounts.variables` is stored: by the names that the toolkit declares. */
export const variablesDocument = plainDocument<TextsDocument>("connected_accounts.variables");

/** How `quarantined_posts.headers` is stored. */
export const headersDocument = plainDocument<TextsDocument>("quarantined_posts.headers");

/** How `quarantined_posts.query` is stored. */
export const queryDocument = plainDocument<TextsDocument>("quarantined_posts.query");
