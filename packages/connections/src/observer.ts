import type { AccountId, ProjectId } from "@svc/core";

/** One token renewal, for logs and metrics. */
export type RenewalObservation = {
  readonly accountId: AccountId;
  readonly projectId: ProjectId;
  readonly toolkitSlug: string;
  readonly scheme: string;
  /**
   * `failed`: the account is unchanged. `ended`: the account is now expired. `superseded`: the account was changed by another request and
   * is not touched.
   */
  readonly outcome: "renewed" | "failed" | "ended" | "superseded";
  /** Why there is no new token, in the words of the account's `lastError`. Empty if there is one. */
  readonly error: string;
  readonly sandbox: boolean;
  /** Milliseconds from the request to the app to the record of its answer. */
  readonly durationMs: number;
};

/** Receiver of observations of renewals. packages/server turns them into log lines and metrics. */
export type RenewalObserver = {
  /** Called after the result of a renewal is committed. */
  renewed(renewal: RenewalObservation): void;
};
