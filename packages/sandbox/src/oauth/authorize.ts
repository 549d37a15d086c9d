import type { Clock } from "@svc/core";
import { consentPage, errorPage, type HtmlPage } from "./consent-page.ts";
import type { AuthorizationRequest, SealedApp, Seals } from "./seals.ts";

/** Where the browser goes next. */
export type Redirect = { readonly redirect: string };

/** The client id that the sandbox knows; any secret beside it is accepted. */
export const sandboxClientId = "sandbox";

/** How long a consent page and a code last. */
const consentMs = 10 * 60_000;
const codeMs = 60_000;

/** What the authorization endpoint needs. `nameOf`: how a toolkit is called on the page. */
export type AuthorizeOptions = {
  readonly clock: Clock;
  readonly seals: Seals;
  readonly callbackUrl: () => string;
  readonly nameOf: (toolkitSlug: string) => string;
};

/**
 * The authorization endpoint (RFC 6749, 3.1). A fault of client or redirect address is a page and never a redirect; other faults go
 * back to the client as an `error` parameter.
 */
export function createAuthorize({ clock, seals, callbackUrl, nameOf }: AuthorizeOptions) {
  return {
    page(url: URL): HtmlPage | Redirect {
      const asked = url.searchParams;
      const repeated = [...asked.keys()].find((name) => asked.getAll(name).length > 1);
      if (repeated !== undefined) return errorPage(400, `The parameter ${repeated} is given more than once.`);
      const redirectUri = asked.get("redirect_uri") ?? "";
      if (asked.get("client_id") !== sandboxClientId)
        return errorPage(400, `The client_id must be ${sandboxClientId}.`);
      if (redirectUri !== callbackUrl()) return errorPage(400, "The redirect_uri is not the one of this service.");
      const toolkit = asked.get("toolkit") ?? "";
      if (!/^[a-z][a-z0-9_]{0,63}$/.test(toolkit)) return errorPage(400, "The parameter toolkit names no toolkit.");
      const sealedApp = asked.get("app");
      const app = sealedApp === null ? undefined : seals.open("app", sealedApp, clock.now());
      if (sealedApp !== null && app?.toolkit !== toolkit) {
        return errorPage(400, "This page is not current any more. Start connecting the account again.");
      }
      const request = {
        toolkit,
        ...(app && { refreshes: app.refreshes }),
        redirectUri,
        ...textsOf(asked, "scope", "state"),
        codeChallenge: asked.get("code_challenge") ?? "",
      };
      const error = faultOf(asked);
      if (error !== undefined) return back(request, error);
      const sealed = seals.seal("consent", { ...request, expiresAtMs: clock.now() + consentMs });
      const name = app?.name ?? nameOf(toolkit);
      return consentPage({ name, scopes: request.scope.split(" ").filter(Boolean), request: sealed });
    },

    /** What the address of the page carries for a private toolkit. */
    sealApp: (app: SealedApp) => seals.seal("app", { ...app, expiresAtMs: clock.now() + consentMs }),

    decide(form: URLSearchParams): HtmlPage | Redirect {
      const consent = seals.open("consent", form.get("request") ?? "", clock.now());
      if (consent === undefined) {
        return errorPage(400, "This page is not current any more. Start connecting the account again.");
      }
      if (form.get("decision") !== "allow") {
        return back(consent, { error: "access_denied", error_description: "the person declined" });
      }
      return back(consent, { code: seals.seal("code", { ...consent, expiresAtMs: clock.now() + codeMs }) });
    },
  };
}

function textsOf(asked: URLSearchParams, ...names: ["scope", "state"]) {
  const [scope, state] = names;
  return { scope: asked.get(scope) ?? "", state: asked.get(state) ?? "" };
}

function faultOf(asked: URLSearchParams): Record<string, string> | undefined {
  if (asked.get("response_type") !== "code") {
    return { error: "unsupported_response_type", error_description: "response_type must be code" };
  }
  if (asked.get("code_challenge_method") !== "S256" || !/^[\w-]{43}$/.test(asked.get("code_challenge") ?? "")) {
    return { error: "invalid_request", error_description: "a code_challenge of the method S256 is required" };
  }
  return undefined;
}

function back({ redirectUri, state }: AuthorizationRequest, answer: Readonly<Record<string, string>>): Redirect {
  const url = new URL(redirectUri);
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value);
  if (state !== "") url.searchParams.set("state", state);
  return { redirect: url.href };
}
