import { Fault, type FaultCode } from "./errors.ts";
import type { FaultText } from "./fault-text.ts";

/** A value, or a function that makes it from the fault's parameters. */
type ValueOrMaker<Value, Args extends readonly unknown[]> = Value | ((...args: Args) => Value);

/** One fault of several that a request has. */
type FaultPart = { readonly reason?: string; readonly field?: string; readonly help?: FaultText };

/** A fault in a table. Its functions take the same parameters; one that needs only the first may omit the others. */
type FaultRow<Args extends readonly unknown[]> = {
  readonly code: FaultCode;
  /** Default: the name of the row. */
  readonly reason?: string;
  /** The request field at fault, by its JSON name. Default: none. */
  readonly field?: ValueOrMaker<string, Args>;
  /** The fault, with the wrong value. */
  readonly says: ValueOrMaker<FaultText, Args>;
  /** The correct form or next step, as one sentence. Default: none. */
  readonly help?: ValueOrMaker<FaultText, Args>;
  /** Time after which the same request may be taken, milliseconds. */
  readonly retryAfterMs?: ValueOrMaker<number | undefined, Args>;
  /** For several faults in one request: each of them, instead of `field` and `help`. */
  readonly each?: (...args: Args) => readonly FaultPart[];
};

/** The longer of two parameter lists, if it begins with the other one. */
type LongerParameters<A extends readonly unknown[], B extends readonly unknown[]> =
  Required<A> extends readonly [...Required<B>, ...(readonly unknown[])] ? A : B;

type ArgsOf<Value> = Value extends (...args: infer Args) => unknown ? Args : [];
type MemberArgs<R, Name extends string> = R extends Readonly<Record<Name, unknown>> ? ArgsOf<R[Name]> : [];
type FaultRowArgs<R> = LongerParameters<
  LongerParameters<MemberArgs<R, "says">, MemberArgs<R, "help">>,
  LongerParameters<LongerParameters<MemberArgs<R, "field">, MemberArgs<R, "retryAfterMs">>, MemberArgs<R, "each">>
>;

/** A row whose functions take the same parameters, without other properties. */
type CheckedFaultRow<R> = FaultRow<FaultRowArgs<R>> & {
  readonly [Name in Exclude<keyof R, keyof FaultRow<[]>>]: never;
};

/** Makes the faults of one row. */
type FaultMaker<Args extends readonly unknown[]> = ((...args: Args) => Fault) & {
  readonly code: FaultCode;
  readonly reason: string;
};

/** Makers of faults by the names of their rows, usually their reasons. */
type FaultTable<Rows> = { readonly [Name in keyof Rows]: FaultMaker<FaultRowArgs<Rows[Name]>> };

/** Returns a maker for each row: `throw toolFaults.CALL_IN_PROGRESS(key)`. */
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
