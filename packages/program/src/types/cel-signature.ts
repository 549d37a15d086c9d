import type { JsonSchema } from "@svc/catalog";

/** The type of a part of an expression. `dyn`: the type is not known before the expression runs. */
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
 * The arguments and the result of a function of expressions. An empty list of kinds means that every kind is accepted. `on`: the kind of
 * the receiver; absent if the function has none.
 */
export type Signature = {
  readonly on?: readonly CelKind[];
  readonly takes: readonly (readonly CelKind[])[];
  /**
   * Type of the function's result. `first`: the same type as the value on which the function is called, or as the first argument of a
   * function that is called on no value.
   */
  readonly gives: CelKind | "first";
  /** If the result is a list: the known type of its items. */
  readonly items?: JsonSchema;
};
