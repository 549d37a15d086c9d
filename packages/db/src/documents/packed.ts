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
  return documentType<T>(
    name,
    [...earlier, ({ p: packed }) => unpack(all, JSON.parse(String(packed)) as unknown) as T],
    (document) => ({ p: JSON.stringify(pack(all, document)) }),
  );
}

/** Fields in their order; `inner` undefined for one that is packed as it is. */
type Order = readonly { readonly name: string; readonly inner: Order | undefined }[];

function orderOf(fields: Fields): Order {
  return Object.entries(fields).map(([name, inner]) => ({ name, inner: inner === true ? undefined : orderOf(inner) }));
}

function pack(order: Order, value: object): unknown[] {
  const values = value as Readonly<Record<string, unknown>>;
  const packed = order.map(({ name, inner }) => {
    const part = values[name];
    return inner === undefined || !isObject(part) ? (part ?? null) : pack(inner, part);
  });
  while (packed.at(-1) === null) packed.pop();
  return packed;
}

function unpack(order: Order, packed: unknown): Record<string, unknown> {
  if (!Array.isArray(packed)) throw new Error("a packed document is no list");
  const values: readonly unknown[] = packed;
  const document: Record<string, unknown> = {};
  for (const [index, { name, inner }] of order.entries()) {
    const part = values[index] ?? undefined;
    if (part !== undefined) document[name] = inner === undefined ? part : unpack(inner, part);
  }
  return document;
}
