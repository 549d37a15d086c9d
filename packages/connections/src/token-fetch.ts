import type { AppAnswer, AppParty, AppRequest } from "./app-transport.ts";

/** The part of `fetch` that token requests use: it posts one form. Rejects if no answer came. */
export type TokenFetch = (
  url: string,
  init: { readonly method: "POST"; readonly headers: Record<string, string>; readonly body: URLSearchParams },
) => Promise<Response>;

/**
 * Sends a token request on behalf of a party (a project and the toolkit of an app). The request takes one of this project's slots for
 * calls.
 */
export type PartyFetch = (url: string, init: Parameters<TokenFetch>[1], party: AppParty) => Promise<Response>;

/** Maximum time for a token request in milliseconds, from the start of the connection to the last byte of the answer. */
const tokenTimeoutMs = 20_000;

/** Returns a function like `fetch` for requests to token endpoints. It sends each request with `send`. */
export function createPartyFetch(
  send: (request: AppRequest, party: AppParty, timeoutMs: number) => Promise<AppAnswer>,
): PartyFetch {
  return async (url, { method, headers, body }, party) => {
    const answer = await send({ method, url, headers, body: String(body) }, party, tokenTimeoutMs);
    if (answer.kind === "too_large") throw new Error("the token endpoint's answer is longer than svc reads");
    if (answer.kind !== "answer") throw new Error(answer.message);
    if (answer.unreadable !== undefined) throw new Error(`the token endpoint's answer ${answer.unreadable}`);
    const hasBody = answer.body.byteLength > 0 && ![204, 205, 304].includes(answer.status);
    return new Response(hasBody ? new Uint8Array(answer.body) : null, {
      status: answer.status,
      headers: { "content-type": answer.headers["content-type"] ?? "" },
    });
  };
}
