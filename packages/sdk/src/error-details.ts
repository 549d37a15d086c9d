import { ConnectError } from "@connectrpc/connect";
import { ErrorDetailSchema } from "@svc/gen/errors";

/** One fault for which svc refused a call. */
export type SvcErrorDetail = {
  /** A stable name of the fault in UPPER_SNAKE_CASE, for programs to branch on. */
  reason: string;
  /** The faulty request field, by its JSON name. Empty if the fault is not in a single field. */
  field: string;
  /** How to correct the fault. Empty if the error's message already says this. */
  help: string;
};

/**
 * Returns the faults in an error of a call, in the service's order. Returns an empty list for any other error, such as a network failure.
 */
export function svcErrorDetails(err: unknown): SvcErrorDetail[] {
  if (!(err instanceof ConnectError)) return [];
  return err.findDetails(ErrorDetailSchema).map(({ reason, field, help }) => ({ reason, field, help }));
}
