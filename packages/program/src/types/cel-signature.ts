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

/** The arguments and result of a function. An empty list of kinds accepts any. Without `on` it has no receiver. */
export type Signature = {
  readonly on?: readonly CelKind[];
  readonly takes: readonly (readonly CelKind[])[];
  /** `first`: the kind and type of its receiver or, without one, of its first argument. */
  readonly gives: CelKind | "first";
  /** The known type of the items of its resulting list. */
  readonly items?: JsonSchema;
};
