import type { Action, Toolkit } from "@svc/catalog";
import type { ProjectId } from "@svc/core";

/** A complete request to an app: credential placed, body serialized. */
export type AppRequest = {
  readonly method: string;
  /** Absolute, with query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
};

/** The purpose of a request. A transport over the network needs none of it; the sandbox uses it to answer. */
export type AppCall = {
  readonly projectId: ProjectId;
  readonly toolkit: Toolkit;
  readonly action: Action;
  readonly entityId: string;
  /** The scheme whose credential the request carries. */
  readonly scheme: string;
};

/** The project on whose behalf a request is sent, and the toolkit's definition. */
export type AppParty = Pick<AppCall, "projectId" | "toolkit">;

/** Result of sending a request. */
export type AppAnswer =
  | {
      readonly kind: "answer";
      readonly status: number;
      /** Names in lower case. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Buffer;
      /** Why the body cannot be decoded, as the end of a sentence about the answer. `body` is then undecoded. */
      readonly unreadable?: string;
    }
  /**
   * The answer's body was over the limit and was cut off. `isBusy`: it is within the limit, but the node had no room for it at that time.
   */
  | { readonly kind: "too_large"; readonly status: number; readonly isBusy?: true }
  /** The address is not allowed, so it was not dialed. */
  | { readonly kind: "refused"; readonly message: string }
  /** No connection was made, or the project has too many calls in progress. Nothing was sent. */
  | { readonly kind: "unreachable"; readonly message: string }
  /** The connection broke, or the time ended, before an answer came. `sent`: part of the request may have been sent. */
  | { readonly kind: "broken" | "timeout"; readonly sent: boolean; readonly message: string };

/** Sends requests to apps. Never rejects. */
export type AppTransport = {
  send(request: AppRequest, call: AppCall, options: { readonly timeoutMs: number }): Promise<AppAnswer>;
};
