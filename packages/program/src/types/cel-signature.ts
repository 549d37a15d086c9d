import type { JsonSchema } from "@svc/catalog";

/** The type of a part of an expression; `dyn` where it is not known before it runs. */
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

/** What a function takes and gives. An empty list of kinds takes any; without `on` it is called on nothing. */
export type Signature = {
  readonly on?: readonly CelKind[];
  readonly takes: readonly (readonly CelKind[])[];
  /** `first`: the kind and type of its receiver or, without one, of its first argument. */
  readonly gives: CelKind | "first";
  /** What is known of the items of a list that it gives. */
  readonly items?: JsonSchema;
};
