import type { Toolkit } from "@svc/catalog";
import type { Redirect } from "./authorize.ts";
import type { ConsentPage } from "./consent-page.ts";

/** An OAuth 2 authorization server for every app of the catalog. */
export type SandboxOauth = {
  /**
   * Returns the query parameters that the sandbox adds to the address of a toolkit's authorization endpoint. For a private toolkit, they
   * contain the toolkit's data (for example its name) in encrypted form.
   */
  authorizeParameters(toolkit: Toolkit): Record<string, string>;
  /**
   * Handles GET /sandbox/authorize. Returns the consent page. If the request is faulty, returns a redirect to the callback with the error,
   * or an error page.
   */
  authorizePage(url: URL): ConsentPage | Redirect;
  /**
   * POST /sandbox/authorize: returns the redirect with a code or an error. Returns a page instead if the form is expired, or if the sandbox
   * did not make it.
   */
  decide(form: URLSearchParams): ConsentPage | Redirect;
  /** Use this in place of the global `fetch`. It serves the token endpoint of `sandboxTokenUrl`. */
  readonly fetch: typeof fetch;
};
