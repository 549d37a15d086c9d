import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "@svc/gen/errors";

/** One thing that was wrong with a call, as the service told it. */
export type Fault = {
  /** A stable name in UPPER_SNAKE_CASE; docs/errors.md has each. */
  reason: string;
  /** Empty where no single field is at fault. */
  field: string;
  help: string;
};

/** A call that failed, ready to be shown. */
export type CallFailure = { message: string; code: string; requestId: string; faults: readonly Fault[] };

/** What a call threw, as it is shown. Never throws. */
export function failureOf(error: unknown): CallFailure {
  const cause = ConnectError.from(error);
  const faults = cause.findDetails(ErrorDetailSchema).map(({ reason, field, help }) => ({ reason, field, help }));
  const unreachable = cause.code === Code.Unknown && cause.cause instanceof TypeError;
  return {
    message: unreachable ? "The service cannot be reached." : cause.rawMessage,
    code: unreachable ? "unreachable" : Code[cause.code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase(),
    requestId: cause.metadata.get("x-request-id") ?? "",
    faults: unreachable
      ? [{ reason: "UNREACHABLE", field: "", help: "See whether it runs; this page tries again by itself." }]
      : faults,
  };
}
