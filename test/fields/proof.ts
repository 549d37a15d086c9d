/** A proof that a field has an effect: two documents that differ only in the field, and an outside view that differs between them. */
export type Proof<World> = {
  /** The document with the field. */
  readonly of: object;
  /** Place of the field in the document, as a JSON Pointer. */
  readonly at: string;
  /** Value of the field in the other document. Default: the field is absent. */
  readonly other?: unknown;
  /** Returns the view of a document that is compared. */
  readonly shows: (world: World, document: object) => Promise<unknown>;
  /** Expected view of the document with the field and of the other document. */
  readonly gives: readonly [withIt: unknown, other: unknown];
};

/** A proof for each field, by the field's name. */
export type Proofs<World> = Readonly<Record<string, Proof<World>>>;

/** Puts proofs below a name, such as those of `max` and `cap` below `call.retry`. */
export function under<World>(name: string, proofs: Proofs<World>): Proofs<World> {
  return Object.fromEntries(Object.entries(proofs).map(([field, proof]) => [`${name}.${field}`, proof]));
}
