import type { ReactNode } from "react";
import type { PlacedFaults } from "../faults.ts";
import type { Shape } from "../read-schema.ts";

/** What every kind of field is given: what it is called and asks for, what it holds, and what is wrong with that. */
export type FieldProps<Kind extends Shape = Shape> = {
  readonly label: string;
  readonly shape: Kind;
  readonly hint: string;
  /** What counts where nothing is given; empty for none. */
  readonly fallback: string;
  readonly isRequired: boolean;
  readonly isSensitive: boolean;
  /** JSON Pointer of the value within the arguments. */
  readonly pointer: string;
  readonly value: unknown;
  readonly faults: PlacedFaults;
  /** Undefined takes the value away. */
  readonly onChange: (value: unknown) => void;
};

/** Draws a field of whatever kind: those that hold others are given it, so that no kind knows the others. */
export type DrawField = (props: FieldProps) => ReactNode;

/** What is wrong with a field itself, in one text. */
export function faultAt({ faults, pointer }: Pick<FieldProps, "faults" | "pointer">): string | undefined {
  return faults.get(pointer)?.join("; ");
}

/** Hint of a field that may have none. */
export function hintOf({ hint }: Pick<FieldProps, "hint">): string | undefined {
  return hint === "" ? undefined : hint;
}
