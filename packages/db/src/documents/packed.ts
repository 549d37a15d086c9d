import { isObject } from "@svc/core";
import { type DocumentReader, type DocumentType, documentType } from "./document.ts";

/**
 * The fields of a document, in the order in which their values are packed into one text. `true`: the value is stored unchanged; otherwise it
 * is an object with its own fields.
 */
export type PackedFields<T extends object> = {
  readonly [Name in keyof T]-?: NonNullable<T[Name]> extends readonly unknown[]
    ? true
    : NonNullable<T[Name]> extends object
      ? true | PackedFields<NonNullable<T[Name]>>
      : true;
};

/**
 * The field names of a packed document, for code that does not know the type of the document. `true` means a single value, and an object
 * means inner fields.
 */
type Fields = { readonly [name: string]: true | Fields };

/**
 * Returns a column type that stores a document as one short JSON text. The text contains only the values, without the names of the fields.
 * Every job has such documents, and as jsonb the names would take three times as much space. A field that is absent or null is absent when
 * read. Never change the list of fields. A different list needs a new version of the document.
 */
export function packedDocument<T extends object>(
  name: string,
  earlier: readonly [DocumentReader<T>, ...DocumentReader<T>[]],
  fields: PackedFields<T>,
): DocumentType<T> {
  const all = orderOf(fields as unknown as Fields);
  // Readers of the two packed versions. In the first one, the document is an object and contains digests as they are. In the second one,
  // the document is a text and contains shortened digests.
  const readerOf = (restore: (part: unknown) => unknown): DocumentReader<T> => {
    return ({ p: packed }) => unpack(all, JSON.parse(String(packed)) as unknown, restore) as T;
  };
  const readers = [...earlier, readerOf((part) => part), readerOf(restored)] as const;
  return documentType<T>(name, readers, (document) => JSON.stringify(pack(all, document)));
}

/**
 * Names of an object's fields, in the order in which a packed document stores their values as a list without names. `inner`: the fields
 * inside this field, in the same way; undefined if the field's value is stored unchanged.
 */
type FieldOrder = readonly { readonly name: string; readonly inner: FieldOrder | undefined }[];

function orderOf(fields: Fields): FieldOrder {
  return Object.entries(fields).map(([name, inner]) => ({ name, inner: inner === true ? undefined : orderOf(inner) }));
}

function pack(order: FieldOrder, value: object): unknown[] {
  const values = value as Readonly<Record<string, unknown>>;
  const packed = order.map(({ name, inner }) => {
    const part = values[name];
    return inner === undefined || !isObject(part) ? shortened(part ?? null) : pack(inner, part);
  });
  while (packed.at(-1) === null) packed.pop();
  return packed;
}

function unpack(order: FieldOrder, packed: unknown, restore: (part: unknown) => unknown): Record<string, unknown> {
  if (!Array.isArray(packed)) throw new Error("a packed document is not a list");
  const values: readonly unknown[] = packed;
  const document: Record<string, unknown> = {};
  for (const [index, { name, inner }] of order.entries()) {
    const part = values[index] ?? undefined;
    if (part !== undefined) document[name] = inner === undefined ? restore(part) : unpack(inner, part, restore);
  }
  return document;
}

// Mark of a shortened digest. A digest in hexadecimal never begins with this character.
const digestMark = "~";
const digestHex = /^(?:[0-9a-f]{2}){32}$/;

/**
 * Returns a shorter form of a digest: a mark and the digest in base64url, two thirds of its length in hex. A text that already begins with
 * the mark gets a second mark. Every other value is returned unchanged.
 */
function shortened(part: unknown): unknown {
  if (typeof part !== "string") return part;
  if (digestHex.test(part)) return `${digestMark}${Buffer.from(part, "hex").toString("base64url")}`;
  return part.startsWith(digestMark) ? `${digestMark}${digestMark}${part.slice(1)}` : part;
}

/**
 * Returns the original value of a part of a stored document. If the part is a shortened digest (base64url after a mark), returns the digest
 * in hex.
 */
function restored(part: unknown): unknown {
  if (typeof part !== "string" || !part.startsWith(digestMark)) return part;
  if (part.startsWith(digestMark, 1)) return part.slice(1);
  return Buffer.from(part.slice(1), "base64url").toString("hex");
}
