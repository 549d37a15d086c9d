import type { Action, Toolkit } from "@svc/catalog";
import type { ProjectId } from "@svc/core";

/** A request to an app, complete: credential placed, body serialised. */
export type AppRequest = {
  readonly method: string;
  /** Absolute, with query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
};

/** What a request is sent for. A transport over the network needs none of it; the sandbox answers by it. */
export type AppCall = {
  readonly projectId: ProjectId;
  readonly toolkit: Toolkit;
  readonly action: Action;
  readonly entityId: string;
  /** The scheme whose credential the request carries. */
  readonly scheme: string;
};

/** On whose behalf a request is sent, and for which definition. */
export type AppParty = Pick<AppCall, "projectId" | "toolkit">;

/** What came of sending a request. */
export type AppAnswer =
  | {
      readonly kind: "answer";
      readonly status: number;
      /** Names in lower case. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Buffer;
      /** Why the body cannot be decoded, as the end of a sentence about the answer; then `body` is as it came. */
      readonly unreadable?: string;
    }
  /** The answer's body passed the limit and was cut off. `isBusy`: it is within the limit, but the node had no room for it then. */
  | { readonly kind: "too_large"; readonly status: number; readonly isBusy?: true }
  /** The address may not be dialled; nothing was. */
  | { readonly kind: "refused"; readonly message: string }
  /** No connection came about, or too many calls of the project are under way: nothing was sent. */
  | { readonly kind: "unreachable"; readonly message: string }
  /** The connection broke, or the time was over, before an answer came. `sent`: bytes of the request may have left. */
  | { readonly kind: "broken" | "timeout"; readonly sent: boolean; readonly message: string };

/** Sends requests to apps. Never rejects. */
export type AppTransport = {
  send(request: AppRequest, call: AppCall, options: { readonly timeoutMs: number }): Promise<AppAnswer>;
};
