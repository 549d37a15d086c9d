import { Fault, type FaultCode } from "./errors.ts";
import type { FaultText } from "./fault-text.ts";

/** A property of a fault (an error for the caller): a fixed value, or a function that computes it from the parameters of the fault. */
type ValueOrMaker<Value, Args extends readonly unknown[]> = Value | ((...args: Args) => Value);

/**
 * One error in an error response that reports several: its reason, the request field that it concerns, and a text that helps to correct it.
 */
type FaultPart = { readonly reason?: string; readonly field?: string; readonly help?: FaultText };

/** Definition of one kind of fault (an error for the caller). All functions of one definition are called with the same arguments. */
type FaultRow<Args extends readonly unknown[]> = {
  readonly code: FaultCode;
  /**
   * The `reason` of the fault, a name for programs. Default: the name under which this fault is defined (for example `PAGE_TOKEN_INVALID`).
   */
  readonly reason?: string;
  /** The wrong request field, by its JSON name. Default: none. */
  readonly field?: ValueOrMaker<string, Args>;
  /** Text about the problem, which contains the wrong value (for example `field "naem" is unknown`). */
  readonly says: ValueOrMaker<FaultText, Args>;
  /** The correct form or next step, as one sentence. Default: none. */
  readonly help?: ValueOrMaker<FaultText, Args>;
  /** Time in milliseconds after which the same request may succeed. Default: undefined, because waiting does not help. */
  readonly retryAfterMs?: ValueOrMaker<number | undefined, Args>;
  /**
   * For a request with several errors: returns the field and help text of each error. The properties `field` and `help` are then ignored.
   */
  readonly each?: (...args: Args) => readonly FaultPart[];
};

/** The longer of two parameter lists. It is a type error if the longer list does not begin with the shorter one. */
type LongerParameters<A extends readonly unknown[], B extends readonly unknown[]> =
  Required<A> extends readonly [...Required<B>, ...(readonly unknown[])] ? A : B;

type ArgsOf<Value> = Value extends (...args: infer Args) => unknown ? Args : [];
type MemberArgs<R, Name extends string> = R extends Readonly<Record<Name, unknown>> ? ArgsOf<R[Name]> : [];
type FaultRowArgs<R> = LongerParameters<
  LongerParameters<MemberArgs<R, "says">, MemberArgs<R, "help">>,
  LongerParameters<LongerParameters<MemberArgs<R, "field">, MemberArgs<R, "retryAfterMs">>, MemberArgs<R, "each">>
>;

/** A checked definition of a fault: all of its functions take the same parameters, and it has no unknown properties. */
type CheckedFaultRow<R> = FaultRow<FaultRowArgs<R>> & {
  readonly [Name in Exclude<keyof R, keyof FaultRow<[]>>]: never;
};

/** Function that creates one kind of fault. Its parameters are those of the fault's definition. */
type FaultMaker<Args extends readonly unknown[]> = ((...args: Args) => Fault) & {
  readonly code: FaultCode;
  readonly reason: string;
};

/**
 * A table of functions that create errors (faults). Each function has the name of the declaration from which it is made. This name is
 * usually the `reason` of the error.
 */
type FaultTable<Rows> = { readonly [Name in keyof Rows]: FaultMaker<FaultRowArgs<Rows[Name]>> };

/**
 * Returns a table of functions that create faults (errors with which svc refuses a call), one for each row. Example: `throw
 * toolFaults.CALL_IN_PROGRESS(key)`.
 */
export function defineFaults<Rows>(
  rows: {
    readonly [Name in keyof Rows]: Rows[Name] & NoInfer<CheckedFaultRow<Rows[Name]>>;
  },
): FaultTable<Rows> {
  const makers = Object.entries<FaultRow<readonly unknown[]>>(rows as Readonly<Record<string, never>>).map(
    ([name, row]) => {
      const { code, reason = name } = row;
      const make = (...args: readonly unknown[]) => faultOf({ ...row, reason }, args);
      return [name, Object.assign(make, { code, reason })];
    },
  );
  return Object.fromEntries(makers) as FaultTable<Rows>;
}

function faultOf(row: FaultRow<readonly unknown[]> & { readonly reason: string }, args: readonly unknown[]): Fault {
  const of = <Value>(given: Value | ((...given: readonly unknown[]) => Value)): Value =>
    given instanceof Function ? given(...args) : given;
  const { code, reason, each } = row;
  const details = each?.(...args) ?? [{ field: of(row.field ?? ""), help: of(row.help ?? "") }];
  return new Fault(
    code,
    of(row.says),
    details.map((detail) => ({ reason, ...detail })),
    of(row.retryAfterMs),
  );
}
