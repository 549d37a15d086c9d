import type { Toolkit } from "@svc/catalog";
import type { Clock, Sealer } from "@svc/core";
import { createAuthorize, type Redirect } from "./authorize.ts";
import type { HtmlPage } from "./consent-page.ts";
import { createSeals } from "./seals.ts";
import { createTokenEndpoint } from "./token.ts";

/** What the sandbox's authorization server needs to know. */
export type OauthOptions = {
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** The one address that codes are sent to: the service's own callback. Read at each request, for a port known late. */
  readonly callbackUrl: string | (() => string);
  /** A shared toolkit by its slug, for its name and whether its app gives refresh tokens. One that is not found gives them. */
  readonly findToolkit: (slug: string) => Pick<Toolkit, "name" | "auth"> | undefined;
};

/** An OAuth 2 authorization server for every catalogued app. */
export type SandboxOauth = {
  /** The query of a toolkit's authorization endpoint. What is to be said of a private toolkit goes along, sealed. */
  authorizeParameters(toolkit: Toolkit): Record<string, string>;
  /** GET /sandbox/authorize: the consent page, or a redirect to the callback with what is wrong. */
  authorizePage(url: URL): HtmlPage | Redirect;
  /** POST /sandbox/authorize: where the browser goes with code or error; a page when the form is not one of ours, or is expired. */
  decide(form: URLSearchParams): HtmlPage | Redirect;
  /** The token endpoint of `sandboxTokenUrl`, in place of the network's `fetch`. */
  readonly fetch: typeof fetch;
};

/** Makes the authorization server, and what tells its access tokens from others. */
export function createSandboxOauth({ clock, sealer, callbackUrl, findToolkit }: OauthOptions) {
  const seals = createSeals(sealer);
  const authorize = createAuthorize({
    clock,
    seals,
    callbackUrl: typeof callbackUrl === "string" ? () => callbackUrl : callbackUrl,
    nameOf: (slug) => findToolkit(slug)?.name ?? slug,
  });
  const refreshes = (slug: string) => givesRefreshTokens(findToolkit(slug));
  const oauth: SandboxOauth = {
    authorizeParameters(toolkit) {
      const { slug, name, ownerProjectId } = toolkit;
      if (ownerProjectId === "") return { toolkit: slug };
      return { toolkit: slug, app: authorize.sealApp({ toolkit: slug, name, refreshes: givesRefreshTokens(toolkit) }) };
    },
    authorizePage: (url) => authorize.page(url),
    decide: (form) => authorize.decide(form),
    fetch: createTokenEndpoint({ clock, seals, refreshes }),
  };
  const acceptsToken = (token: string, toolkitSlug: string) =>
    seals.open("access", token, clock.now())?.toolkit === toolkitSlug;
  return { oauth, acceptsToken };
}

function givesRefreshTokens(toolkit: Pick<Toolkit, "auth"> | undefined): boolean {
  const schemes = toolkit?.auth ?? [];
  return !schemes.some((scheme) => scheme.type === "oauth2" && !scheme.refresh);
}
