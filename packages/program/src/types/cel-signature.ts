import type { JsonSchema } from "@svc/catalog";

/** The type of a part of an expression. `dyn`: unknown before it runs. */
export type CelKind =
  | "dyn"
  | "null"
  | "bool"
  | "int"
  | "uint"
  | "double"
  | "string"
  | "bytes"
  | "list"
  | "map"
  | "timestamp"
  | "duration";

/**
 * The arguments and the result of a function. An empty list of kinds accepts every kind. `on`: the receiver's kind; absent if the function
 * has no receiver.
 */
export type Signature = {
  readonly on?: readonly CelKind[];
  readonly takes: readonly (readonly CelKind[])[];
  /** The kind of the result. `first`: the kind and type of the receiver, or of the first argument if there is no receiver. */
  readonly gives: CelKind | "first";
  /** If the result is a list: the known type of its items. */
  readonly items?: JsonSchema;
};
