import { Fault, type FaultCode } from "./errors.ts";
import type { FaultText } from "./fault-text.ts";

/** A value, or what makes it of the parameters of the fault. */
type Given<Value, Args extends readonly unknown[]> = Value | ((...args: Args) => Value);

/** One fault of several that a request has. */
type Part = { readonly reason?: string; readonly field?: string; readonly help?: FaultText };

/** A fault as a table declares it. Its functions take the same parameters; one that needs only the first may leave out the others. */
type Row<Args extends readonly unknown[]> = {
  readonly code: FaultCode;
  /** Default: the name of the row. */
  readonly reason?: string;
  /** The request field at fault, by its JSON name. Default: none. */
  readonly field?: Given<string, Args>;
  /** The fault, with the wrong value. */
  readonly says: Given<FaultText, Args>;
  /** The correct form or next step, as one sentence. Default: none. */
  readonly help?: Given<FaultText, Args>;
  /** Time after which the same request may be taken, milliseconds. */
  readonly retryAfterMs?: Given<number | undefined, Args>;
  /** Of several faults of one request: each, in place of `field` and `help`. */
  readonly each?: (...args: Args) => readonly Part[];
};

/** The longer one of two lists of parameters, of which the other one is a part. */
type Longer<A extends readonly unknown[], B extends readonly unknown[]> =
  Required<A> extends readonly [...Required<B>, ...(readonly unknown[])] ? A : B;

type ArgsOf<Value> = Value extends (...args: infer Args) => unknown ? Args : [];
type At<R, Name extends string> = R extends Readonly<Record<Name, unknown>> ? ArgsOf<R[Name]> : [];
type RowArgs<R> = Longer<
  Longer<At<R, "says">, At<R, "help">>,
  Longer<Longer<At<R, "field">, At<R, "retryAfterMs">>, At<R, "each">>
>;

/** A row whose functions all take its parameters, and which has nothing else. */
type CheckedRow<R> = Row<RowArgs<R>> & { readonly [Name in Exclude<keyof R, keyof Row<[]>>]: never };

/** Makes the faults of one row. */
type FaultMaker<Args extends readonly unknown[]> = ((...args: Args) => Fault) & {
  readonly code: FaultCode;
  readonly reason: string;
};

/** Makers of faults by the names of their rows, usually their reasons. */
type FaultTable<Rows> = { readonly [Name in keyof Rows]: FaultMaker<RowArgs<Rows[Name]>> };

/** Returns a maker for each row: `throw toolFaults.CALL_IN_PROGRESS(key)`. */
export function defineFaults<Rows>(
  rows: {
    readonly [Name in keyof Rows]: Rows[Name] & NoInfer<CheckedRow<Rows[Name]>>;
  },
): FaultTable<Rows> {
  const makers = Object.entries<Row<readonly unknown[]>>(rows as Readonly<Record<string, never>>).map(([name, row]) => {
    const { code, reason = name } = row;
    const make = (...args: readonly unknown[]) => faultOf({ ...row, reason }, args);
    return [name, Object.assign(make, { code, reason })];
  });
  return Object.fromEntries(makers) as FaultTable<Rows>;
}

function faultOf(row: Row<readonly unknown[]> & { readonly reason: string }, args: readonly unknown[]): Fault {
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
