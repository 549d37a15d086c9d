import { asWritten } from "./document.ts";
import { packedDocument } from "./packed.ts";

/** `jobs.saga`. `cause` says, while it compensates, how the job ends afterwards. */
export type SagaDocument = {
  readonly state: "none" | "armed" | "compensating" | "compensated" | "stuck";
  readonly entries: number;
  readonly done: number;
  readonly failed: number;
  readonly cause?: "failed" | "aborted" | "cancelled";
};

/** How `jobs.saga` is stored. */
export const sagaDocument = packedDocument<SagaDocument>("jobs.saga", [asWritten], {
  state: true,
  entries: true,
  done: true,
  failed: true,
  cause: true,
});
