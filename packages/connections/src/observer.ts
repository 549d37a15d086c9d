import type { AccountId, ProjectId } from "@svc/core";

/** One renewal of a token as it went, for logs and metrics. */
export type RenewalObservation = {
  readonly accountId: AccountId;
  readonly projectId: ProjectId;
  readonly toolkitSlug: string;
  readonly scheme: string;
  /** `failed`: the account stays as it was. `ended`: it is expired now. `superseded`: it was changed meanwhile, and stays as it is. */
  readonly outcome: "renewed" | "failed" | "ended" | "superseded";
  /** Why there is no new token, as the account's `lastError` says it; empty when there is one. */
  readonly error: string;
  readonly sandbox: boolean;
  /** From the question to the app to its answer's record. */
  readonly durationMs: number;
};

/** Who watches renewals; packages/server turns it into log lines and metrics. */
export type RenewalObserver = {
  /** An app was asked for a new token, and what came of it is committed. */
  renewed(renewal: RenewalObservation): void;
};
