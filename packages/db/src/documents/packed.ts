import { isObject } from "@svc/core";
import { type DocumentReader, type DocumentType, documentType } from "./document.ts";

/** Fields of a document in packing order; `true` for a field that is packed unchanged. */
export type PackedFields<T extends object> = {
  readonly [Name in keyof T]-?: NonNullable<T[Name]> extends readonly unknown[]
    ? true
    : NonNullable<T[Name]> extends object
      ? true | PackedFields<NonNullable<T[Name]>>
      : true;
};

/** Fields in the form used to traverse them. */
type Fields = { readonly [name: string]: true | Fields };

/**
 * Makes a document type whose last version is one text: the values without their names. For documents of every job, jsonb needs three times
 * as much space for names and numbers. A field that is absent or null is absent when read. Never change the fields: other fields need
 * another version.
 */
export function packedDocument<T extends object>(
  name: string,
  earlier: readonly [DocumentReader<T>, ...DocumentReader<T>[]],
  fields: PackedFields<T>,
): DocumentType<T> {
  const all = orderOf(fields as unknown as Fields);
  // First the version with an object field, then the version stored as text.
  const readerOf = (restore: (part: unknown) => unknown): DocumentReader<T> => {
    return ({ p: packed }) => unpack(all, JSON.parse(String(packed)) as unknown, restore) as T;
  };
  const readers = [...earlier, readerOf((part) => part), readerOf(restored)] as const;
  return documentType<T>(name, readers, (document) => JSON.stringify(pack(all, document)));
}

/** Fields in order; `inner` is undefined for a field that is packed unchanged. */
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
  if (!Array.isArray(packed)) throw new Error("a packed document is no list");
  const values: readonly unknown[] = packed;
  const document: Record<string, unknown> = {};
  for (const [index, { name, inner }] of order.entries()) {
    const part = values[index] ?? undefined;
    if (part !== undefined) document[name] = inner === undefined ? restore(part) : unpack(inner, part, restore);
  }
  return document;
}

// No hexadecimal digest begins with it.
const digestMark = "~";
const digestHex = /^(?:[0-9a-f]{2}){32}$/;

/** Shortens a digest to two thirds of its characters, after a mark; a text that begins with the mark gets a second one. */
function shortened(part: unknown): unknown {
  if (typeof part !== "string") return part;
  if (digestHex.test(part)) return `${digestMark}${Buffer.from(part, "hex").toString("base64url")}`;
  return part.startsWith(digestMark) ? `${digestMark}${digestMark}${part.slice(1)}` : part;
}

/** Reverses `shortened`. */
function restored(part: unknown): unknown {
  if (typeof part !== "string" || !part.startsWith(digestMark)) return part;
  if (part.startsWith(digestMark, 1)) return part.slice(1);
  return Buffer.from(part.slice(1), "base64url").toString("hex");
}
