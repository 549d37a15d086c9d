import type { Toolkit } from "@svc/catalog";
import type { AppTransport } from "@svc/connections";
import { type Clock, createSealer, SealError, type Sealer } from "@svc/core";
import { ObjectStore, type StoreLimits } from "./data/store.ts";
import { createInboxes, type Inboxes } from "./inboxes.ts";
import { type Redirect, sandboxClientId } from "./oauth/authorize.ts";
import { type ConsentPage, consentPage, errorPage } from "./oauth/consent-page.ts";
import type { SandboxOauth } from "./oauth/oauth.ts";
import type { AuthorizationRequest, Sealed, SealedApp, TokenSeals } from "./oauth/seals.ts";
import { createTokenEndpoint } from "./oauth/token.ts";
import type { TransportOptions } from "./transport.ts";

/** Dependencies of the authorization endpoint. `nameOf` returns the name of a toolkit (app) for the consent page. */
type AuthorizeOptions = {
  readonly clock: Clock;
  readonly seals: TokenSeals;
  readonly callbackUrl: () => string;
  readonly nameOf: (toolkitSlug: string) => string;
};

/** Lifetime of a consent page of the sandbox, in milliseconds. */
const consentMs = 10 * 60_000;

/** Lifetime of an authorization code of the sandbox, in milliseconds. */
const codeMs = 60_000;

/** Dependencies of the sandbox's authorization server. */
type OauthOptions = {
  readonly clock: Clock;
  readonly sealer: Sealer;
  /**
   * The only address to which the sandbox sends OAuth authorization codes: the service's own callback. A function is called at each
   * request, because the port may be unknown at the start.
   */
  readonly callbackUrl: string | (() => string);
  /**
   * Returns a shared toolkit (an app's tools, for all projects) by its slug. The sandbox takes two facts from the toolkit: the app's name,
   * and if the app issues refresh tokens. If the function finds no toolkit, the sandbox issues refresh tokens.
   */
  readonly findToolkit: (slug: string) => Pick<Toolkit, "name" | "auth"> | undefined;
};

/** Dependencies of the sandbox. */
export type SandboxOptions = Omit<OauthOptions, "findToolkit"> & {
  readonly findToolkit?: OauthOptions["findToolkit"];
  /** Limits of the sandbox's memory. A limit that is missing has its default. */
  readonly limits?: Partial<StoreLimits>;
  readonly turns?: TransportOptions["turns"];
  readonly findWhole?: TransportOptions["findWhole"];
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/**
 * Maximum number of emulated rows in one project that the sandbox remembers after a list has shown them. `seenCharactersMax`: maximum
 * number of characters of these rows in all projects together.
 */
const seenPerProjectMax = 1000;
const seenCharactersMax = 8 * 1024 * 1024;

/** An emulator of every app of the catalog inside this process. It follows the tool definitions, and opens no port and no connection. */
export type Sandbox = {
  readonly transport: AppTransport;
  readonly oauth: SandboxOauth;
  /** Addresses of the deployment that show the requests they receive. */
  readonly inboxes: Inboxes;
};

/**
 * Creates a sandbox. Objects that calls make, change and delete are kept in memory for each project, and are lost when the process ends.
 * Each node has its own objects; OAuth tokens are valid on all nodes.
 */
export function createSandbox({
  findToolkit = () => undefined,
  limits,
  turns,
  findWhole,
  ...options
}: SandboxOptions): Sandbox {
  const { oauth, acceptsToken } = createSandboxOauth({ ...options, findToolkit });
  const store = new ObjectStore(limits);
  // Latest time of made-up objects: 15 hours before the start of the day on which the sandbox started. It stays the same on later days.
  const baseMs = Math.floor(options.clock.now() / dayMs) * dayMs - 15 * hourMs;
  // The store of known field values of rows that lists have shown. It is separate from the store of objects that calls made. It is smaller,
  // so its values are removed earlier.
  const seen = new ObjectStore({
    ...limits,
    objectsPerProjectMax: seenPerProjectMax,
    charactersMax: seenCharactersMax,
  });
  const transport = loadedLater(async () => {
    const { createSandboxTransport } = await import("./transport.ts");
    return createSandboxTransport({ clock: options.clock, store, seen, baseMs, acceptsToken, turns, findWhole });
  });
  return { transport, oauth, inboxes: createInboxes(options) };
}

/** Returns a transport that `load` makes at the first call. A node that calls no app then does not load the emulator. */
function loadedLater(load: () => Promise<AppTransport>): AppTransport {
  let loading: Promise<AppTransport> | undefined;
  let loaded: AppTransport | undefined;
  return {
    async send(request, call, options) {
      loading ??= load();
      loaded ??= await loading;
      return loaded.send(request, call, options);
    },
  };
}

/** Creates the authorization server, and a function that recognizes its access tokens. */
function createSandboxOauth({ clock, sealer, callbackUrl, findToolkit }: OauthOptions) {
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
    allow: (url) => authorize.allow(url),
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

/**
 * Creates the functions that encrypt and decrypt the sandbox's OAuth codes and tokens. Their keys are derived from the service's keys and
 * are used only here.
 */
function createSeals(sealer: Sealer): TokenSeals {
  const own = createSealer(sealer.subkeys("sandbox oauth"));
  const contextOf = (purpose: keyof Sealed) => `sandbox/oauth/${purpose}`;
  return {
    seal: (purpose, content) =>
      own.seal(Buffer.from(JSON.stringify(content), "utf8"), contextOf(purpose)).toString("base64url"),
    open(purpose, text, nowMs) {
      const bytes = Buffer.from(text, "base64url");
      // Decoding ignores characters that do not belong to base64url. Therefore only the exact original text is accepted.
      if (bytes.toString("base64url") !== text) return undefined;
      try {
        const content = JSON.parse(own.open(bytes, contextOf(purpose)).toString("utf8"));
        return content.expiresAtMs > nowMs ? content : undefined;
      } catch (error) {
        if (error instanceof SealError) return undefined;
        throw error;
      }
    },
  };
}

/**
 * Creates the authorization endpoint (RFC 6749, 3.1). If the client or the redirect address is wrong, it returns a page and never
 * redirects. All other errors go back to the client in the parameter `error`.
 */
function createAuthorize({ clock, seals, callbackUrl, nameOf }: AuthorizeOptions) {
  const readRequest = (url: URL): { request: AuthorizationRequest; name: string } | ConsentPage | Redirect => {
    const asked = url.searchParams;
    const repeated = [...asked.keys()].find((name) => asked.getAll(name).length > 1);
    if (repeated !== undefined) return errorPage(400, `The parameter ${repeated} is given more than once.`);
    const redirectUri = asked.get("redirect_uri") ?? "";
    if (asked.get("client_id") !== sandboxClientId) return errorPage(400, `The client_id must be ${sandboxClientId}.`);
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
    return { request, name: app?.name ?? nameOf(toolkit) };
  };
  const grant = (request: AuthorizationRequest) =>
    back(request, { code: seals.seal("code", { ...request, expiresAtMs: clock.now() + codeMs }) });
  return {
    page(url: URL): ConsentPage | Redirect {
      const asked = readRequest(url);
      if (!("request" in asked)) return asked;
      const { request, name } = asked;
      const sealed = seals.seal("consent", { ...request, expiresAtMs: clock.now() + consentMs });
      return consentPage({ name, scopes: request.scope.split(" ").filter(Boolean), request: sealed });
    },

    allow(url: URL): ConsentPage | Redirect {
      const asked = readRequest(url);
      return "request" in asked ? grant(asked.request) : asked;
    },

    /**
     * Encrypts the data about a private toolkit (an app that one project defined) that its consent page needs, and returns the encrypted
     * text. This text is a part of the consent page's address.
     */
    sealApp: (app: SealedApp) => seals.seal("app", { ...app, expiresAtMs: clock.now() + consentMs }),

    decide(form: URLSearchParams): ConsentPage | Redirect {
      const consent = seals.open("consent", form.get("request") ?? "", clock.now());
      if (consent === undefined) {
        return errorPage(400, "This page is not current any more. Start connecting the account again.");
      }
      if (form.get("decision") !== "allow") {
        return back(consent, { error: "access_denied", error_description: "the person declined" });
      }
      return grant(consent);
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
