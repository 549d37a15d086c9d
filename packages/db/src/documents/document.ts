import { isObject, type JsonObject, type Quotas } from "@svc/core";

/** A kind of JSON document that is stored in a jsonb column, with functions that read and write it. */
export type DocumentType<T> = {
  /** Name of the document's column in error messages, for example `jobs.park`. */
  readonly name: string;
  /**
   * Returns a stored document in the current form. The document may be of this code's version or of any earlier version. Throws an Error
   * that names the column for all other data.
   */
  read(stored: unknown): T;
  /** Returns the document as JSON text in the current version. */
  write(document: T): string;
};

/** Converts a JSON document of an older stored version into the form that the code now uses. */
export type DocumentReader<T> = (stored: Readonly<Record<string, unknown>>) => T;

/**
 * Returns a stored document unchanged. It is the reader for documents that are stored in the current form. Only this function casts stored
 * data to the document's type.
 */
export function asWritten<T>(stored: Readonly<Record<string, unknown>>): T {
  return stored as T;
}

/**
 * Returns a document type, which reads and writes one kind of stored JSON document. `readers`: one function per version, from version 1,
 * that converts a stored document; new documents get the last version. `stored`: returns the object or text to store.
 */
export function documentType<T extends object>(
  name: string,
  readers: readonly [DocumentReader<T>, ...DocumentReader<T>[]],
  stored: (document: T) => object | string = (document) => document,
): DocumentType<T> {
  return {
    name,
    read(stored) {
      // A text is stored after its version number. The reader gets the text as the field `p`. A JSON object would take 24 bytes more.
      if (typeof stored === "string" && isVersionedText(stored)) {
        const version = Number.parseInt(stored, 10);
        const reader = readers[version - 1];
        if (reader === undefined) throw unknownVersion(name, version, readers.length);
        return reader({ p: stored.slice(String(version).length) });
      }
      if (!isObject(stored)) throw new Error(`${name} holds ${typeNameOf(stored)}, not an object`);
      // From version 2 on, a document contains its version as `v`.
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

/** Returns true if `text` is a document in packed form: a version number followed by a text. Returns false if it is JSON. */
export function isVersionedText(text: string): boolean {
  const first = text.charCodeAt(0);
  return first >= 0x31 && first <= 0x39;
}

/**
 * Returns the document type for a list of documents. Each document in the list has its own version, because a newer svc adds documents to a
 * list that an older svc began.
 */
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

/**
 * Returns a document type for JSON objects with any property names. The stored object has no version property `v`, because a user's
 * property could have this name.
 */
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

/** Reads and writes the JSON of the column `project_policies.quotas`: the quotas that an administrator set for a project, by name. */
export const quotasDocument = documentType<Quotas>("project_policies.quotas", [asWritten]);

/**
 * Texts by name, for example header values by header name. The names come from a webhook post or from a toolkit (definition of an app), not
 * from svc.
 */
type TextsDocument = Readonly<Record<string, string>>;

/**
 * Document type of the column `connected_accounts.variables`: the values of an account's variables, by name. The definition of the
 * account's app declares the names of the variables.
 */
export const variablesDocument = plainDocument<TextsDocument>("connected_accounts.variables");

/** Document type of the column `quarantined_posts.headers`: headers of a webhook post that svc could not turn into an event. */
export const headersDocument = plainDocument<TextsDocument>("quarantined_posts.headers");

/** Document type of the column `quarantined_posts.query`: query parameters of a webhook post that svc could not turn into an event. */
export const queryDocument = plainDocument<TextsDocument>("quarantined_posts.query");

/**
 * A project's settings for its own events (events that the project itself publishes) and for its portal. `unknownTypes`: what svc does with
 * an event of a type that does not exist. It refuses the event, or it creates the type.
 */
export type EventSettings = {
  readonly unknownTypes: "refuse" | "create";
  readonly portal?: PortalLook | undefined;
};

/** Look of a project's portal, without its logo. `origins`: sites that may embed the portal in a frame. */
export type PortalLook = { readonly name: string; readonly color: string; readonly origins: readonly string[] };

/**
 * Reads and writes the JSON of the column `event_settings.settings`: a project's settings for the events that it publishes itself, and for
 * its portal.
 */
export const eventSettingsDocument = documentType<EventSettings>("event_settings.settings", [asWritten]);
