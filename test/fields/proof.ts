/** Two documents that differ in one field alone, and what that field changes of what is seen from outside. */
export type Proof<World> = {
  /** The document with the field. */
  readonly of: object;
  /** Where the field stands in it, as a JSON Pointer. */
  readonly at: string;
  /** What stands there in the other document. Default: nothing. */
  readonly other?: unknown;
  /** What is looked at. */
  readonly shows: (world: World, document: object) => Promise<unknown>;
  /** What is seen with the field, and of the other document. */
  readonly gives: readonly [withIt: unknown, other: unknown];
};

/** A proof for each field, by its name. */
export type Proofs<World> = Readonly<Record<string, Proof<World>>>;

/** Puts proofs under a name: those of `max` and `cap` under `call.retry`. */
export function under<World>(name: string, proofs: Proofs<World>): Proofs<World> {
  return Object.fromEntries(Object.entries(proofs).map(([field, proof]) => [`${name}.${field}`, proof]));
}
