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
 * One form of a function of the expression language: the types of its arguments, and of its result. An empty list of types means that any
 * type is accepted. `on`: type of the value before the dot; absent if the function is not a method.
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
