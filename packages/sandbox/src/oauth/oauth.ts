import type { Toolkit } from "@svc/catalog";
import type { Redirect } from "./authorize.ts";
import type { ConsentPage } from "./consent-page.ts";

/** The OAuth 2 authorization server of the sandbox. It plays the authorization servers of all apps of the catalog. */
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
   * Handles POST /sandbox/authorize (the form of the consent page). Returns the redirect to the callback with a code or an error. Returns a
   * page instead if the form is expired, or if the sandbox did not make it.
   */
  decide(form: URLSearchParams): ConsentPage | Redirect;
  /**
   * Gives consent without a page. `url`: the address of the consent page, as a browser would open it. Returns the redirect to the callback,
   * or what `authorizePage` returns for a faulty request.
   */
  allow(url: URL): ConsentPage | Redirect;
  /** Function to use in place of the global `fetch`. It answers requests to the token endpoint of `sandboxTokenUrl` inside the process. */
  readonly fetch: typeof fetch;
};
