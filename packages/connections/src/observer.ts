import type { AccountId, ProjectId } from "@svc/core";

/** The result of one renewal of an account's access token, as reported to logs and metrics. */
export type RenewalObservation = {
  readonly accountId: AccountId;
  readonly projectId: ProjectId;
  readonly toolkitSlug: string;
  readonly scheme: string;
  /**
   * `renewed`: there is a new token. `failed`: the account is unchanged. `ended`: the account is now expired. `superseded`: another request
   * changed the account, so this renewal left it unchanged.
   */
  readonly outcome: "renewed" | "failed" | "ended" | "superseded";
  /** Reason why there is no new token, in the words of the account's `lastError`. Empty if there is a new token. */
  readonly error: string;
  readonly sandbox: boolean;
  /** Time in milliseconds from the request to the app until its answer is stored. */
  readonly durationMs: number;
};

/** Receives a report of each token renewal. packages/server writes it to the log and the metrics. */
export type RenewalObserver = {
  /** Called when a token renewal has succeeded or failed, after the result is committed. */
  renewed(renewal: RenewalObservation): void;
};
