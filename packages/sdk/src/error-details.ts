import { ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "@svc/gen/errors";

/** One fault of a refused call. */
export type SvcErrorDetail = {
  /** What was wrong, as a stable name in UPPER_SNAKE_CASE: what a program branches on. */
  reason: string;
  /** The request field at fault, by its JSON name. Empty when it lies in no single field. */
  field: string;
  /** What would be right. Empty when the error's message says it all. */
  help: string;
};

/** The faults that an error of a call carries, in the service's order. Empty for any other error, such as a network failure. */
export function svcErrorDetails(err: unknown): SvcErrorDetail[] {
  if (!(err instanceof ConnectError)) return [];
  return err.findDetails(ErrorDetailSchema).map(({ reason, field, help }) => ({ reason, field, help }));
}
