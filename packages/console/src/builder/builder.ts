import type { DescribedStep, ExpressionWord } from "@svc/gen/jobs";
import type { Document } from "./document.ts";

/** An error that the service found in a program. `pointer`: JSON Pointer of the wrong value in the document. */
export type BuilderFault = { readonly pointer: string; readonly message: string };

/** State and functions that the program editor shares with all of its cards. Each card shows one step of the program. */
export type Builder = {
  readonly document: Document;
  /** JSON Pointer of the program in the document. Empty if the document is the program. */
  readonly base: string;
  /** The parsed program. */
  readonly program: unknown;
  readonly faults: readonly BuilderFault[];
  /** The steps of the program as the service describes them, by id. */
  readonly described: ReadonlyMap<string, DescribedStep>;
  /** The functions, operators and variables of expressions. */
  readonly words: readonly ExpressionWord[];
  /** Ids of all steps of the program. */
  readonly ids: ReadonlySet<string>;
  /** User of the program's first call, for new calls. */
  readonly entity: string;
  /** Moves a step by one place, up (-1) or down (1), and keeps the focus on it. */
  readonly move: (list: string, index: number, by: -1 | 1) => void;
};

/** Returns the errors of the value at `pointer` as one text, without the errors of values inside it. Undefined if there are none. */
export function faultOf({ faults }: Builder, pointer: string): string | undefined {
  const found = faults.filter((fault) => fault.pointer === pointer).map(({ message }) => message);
  return found.length === 0 ? undefined : found.join(" ");
}

/** Returns the errors at a value and inside it as one text. Undefined if there are none. */
export function faultWithin({ faults }: Builder, pointer: string): string | undefined {
  const found = faults
    .filter((fault) => fault.pointer === pointer || fault.pointer.startsWith(`${pointer}/`))
    .map(({ message }) => message);
  return found.length === 0 ? undefined : found.join(" ");
}
