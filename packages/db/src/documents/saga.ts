import { asWritten, documentType } from "./document.ts";

/** `jobs.saga`. `cause` says, while it compensates, how the job ends afterwards. */
export type SagaDocument = {
  readonly state: "none" | "armed" | "compensating" | "compensated" | "stuck";
  readonly entries: number;
  readonly done: number;
  readonly failed: number;
  readonly cause?: "failed" | "aborted" | "cancelled";
};

/** How `jobs.saga` is stored. */
export const sagaDocument = documentType<SagaDocument>("jobs.saga", [asWritten]);
