import type { Action, Toolkit } from "@svc/catalog";
import type { AccountId, ProjectId } from "@svc/core";

/** A complete request to an app: credential placed, body serialized. */
export type AppRequest = {
  readonly method: string;
  /** Absolute URL to which the request is sent, with its query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
};

/** The project, tool and entity for which svc sends a request to an app. */
export type AppCall = {
  readonly projectId: ProjectId;
  readonly toolkit: Toolkit;
  readonly action: Action;
  readonly entityId: string;
  /** Authentication scheme (for example `oauth2`) of the credential that the request contains. */
  readonly scheme: string;
  /**
   * Account whose credential the request contains. Calls of the same account to an MCP server share a session. Undefined if the account is
   * not stored yet; the call then gets a session of its own.
   */
  readonly accountId?: AccountId | undefined;
};

/** The project on whose behalf a request is sent, and the definition of the app's toolkit. */
export type AppParty = Pick<AppCall, "projectId" | "toolkit">;

/** An image in the result of a tool. `data`: its bytes in base64. `bytes`: their number. */
export type ResultImage = { readonly mimeType: string; readonly data: string; readonly bytes: number };

/** Result of sending a request to an app: the app's answer, or the reason why there is none. */
export type AppAnswer =
  | {
      readonly kind: "answer";
      readonly status: number;
      /** Values of the answer's headers, by header name in lower case. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Buffer;
      /** Why the body could not be decoded, as the end of a sentence. `body` is then as the app sent it. Absent if the body was decoded. */
      readonly unreadable?: string;
      /** Images of an MCP tool's result, which an agent may get in addition to the body. Absent if there are none. */
      readonly images?: readonly ResultImage[];
      /** Warnings about data of an MCP tool's result that is neither in the body nor an image. Absent if there are none. */
      readonly warnings?: readonly string[];
    }
  /**
   * The body of the answer was cut off at a limit. `isBusy`: the body was within the size limit, but the node had no memory for it at that
   * time.
   */
  | { readonly kind: "too_large"; readonly status: number; readonly isBusy?: true }
  /** The address guard does not allow the address of the app, so no connection was opened. */
  | { readonly kind: "refused"; readonly message: string }
  /** The app describes the tool otherwise than when a person accepted it, so svc did not call it. Nothing was executed. */
  | { readonly kind: "withheld"; readonly message: string }
  /** No connection to the app was made, or the project already has too many calls in progress. Nothing was sent. */
  | { readonly kind: "unreachable"; readonly message: string }
  /** The connection broke, or the time ended, before an answer came. `sent`: true if parts of the request may have been sent. */
  | { readonly kind: "broken" | "timeout"; readonly sent: boolean; readonly message: string };

/** Sends requests to apps. Never rejects: failures are part of the returned result. */
export type AppTransport = {
  send(request: AppRequest, call: AppCall, options: { readonly timeoutMs: number }): Promise<AppAnswer>;
};
