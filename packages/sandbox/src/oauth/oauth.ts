import type { Toolkit } from "@svc/catalog";
import type { Redirect } from "./authorize.ts";
import type { ConsentPage } from "./consent-page.ts";

/** An OAuth 2 authorization server for every catalogued app. */
export type SandboxOauth = {
  /** The query of a toolkit's authorization endpoint. What is to be said of a private toolkit goes along, sealed. */
  authorizeParameters(toolkit: Toolkit): Record<string, string>;
  /** GET /sandbox/authorize: the consent page, or a redirect to the callback with what is wrong. */
  authorizePage(url: URL): ConsentPage | Redirect;
  /** POST /sandbox/authorize: where the browser goes with code or error; a page when the form is not one of ours, or is expired. */
  decide(form: URLSearchParams): ConsentPage | Redirect;
  /** The token endpoint of `sandboxTokenUrl`, in place of the network's `fetch`. */
  readonly fetch: typeof fetch;
};
