import { isObject } from "@svc/core";
import { type DocumentReader, type DocumentType, documentType } from "./document.ts";

/** The fields of a document in the order in which they are packed; `true` for one that is packed as it is. */
export type PackedFields<T extends object> = {
  readonly [Name in keyof T]-?: NonNullable<T[Name]> extends readonly unknown[]
    ? true
    : NonNullable<T[Name]> extends object
      ? true | PackedFields<NonNullable<T[Name]>>
      : true;
};

/** Fields as they are walked. */
type Fields = { readonly [name: string]: true | Fields };

/**
 * A document whose last version is one text, of its values without their names: of what is written with every job, jsonb keeps three
 * times as much for names and numbers. A field that is absent or null is absent when it is read. Fields never change: another field is
 * another version.
 */
export function packedDocument<T extends object>(
  name: string,
  earlier: readonly [DocumentReader<T>, ...DocumentReader<T>[]],
  fields: PackedFields<T>,
): DocumentType<T> {
  const all = orderOf(fields as unknown as Fields);
  // First the field of an object, then a text of its own.
  const readerOf = (restore: (part: unknown) => unknown): DocumentReader<T> => {
    return ({ p: packed }) => unpack(all, JSON.parse(String(packed)) as unknown, restore) as T;
  };
  const readers = [...earlier, readerOf((part) => part), readerOf(restored)] as const;
  return documentType<T>(name, readers, (document) => JSON.stringify(pack(all, document)));
}

/** Fields in their order; `inner` undefined for one that is packed as it is. */
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

// No digest in hexadecimal begins so.
const digestMark = "~";
const digestHex = /^(?:[0-9a-f]{2}){32}$/;

/** A digest in two thirds of its characters, behind a mark; a text that begins as the mark has another before it. */
function shortened(part: unknown): unknown {
  if (typeof part !== "string") return part;
  if (digestHex.test(part)) return `${digestMark}${Buffer.from(part, "hex").toString("base64url")}`;
  return part.startsWith(digestMark) ? `${digestMark}${digestMark}${part.slice(1)}` : part;
}

/** What `shortened` was given. */
function restored(part: unknown): unknown {
  if (typeof part !== "string" || !part.startsWith(digestMark)) return part;
  if (part.startsWith(digestMark, 1)) return part.slice(1);
  return Buffer.from(part.slice(1), "base64url").toString("hex");
}
