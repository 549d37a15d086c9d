import type { Toolkit } from "@svc/catalog";
import type { AppTransport } from "@svc/connections";
import { type Clock, createSealer, SealError, type Sealer } from "@svc/core";
import { ObjectStore, type StoreLimits } from "./data/store.ts";
import { createAuthorize } from "./oauth/authorize.ts";
import type { SandboxOauth } from "./oauth/oauth.ts";
import type { Sealed, Seals } from "./oauth/seals.ts";
import { createTokenEndpoint } from "./oauth/token.ts";
import { createSandboxTransport, type TransportOptions } from "./transport.ts";

/** What the sandbox's authorization server needs to know. */
type OauthOptions = {
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** The one address that codes are sent to: the service's own callback. Read at each request, for a port known late. */
  readonly callbackUrl: string | (() => string);
  /** A shared toolkit by its slug, for its name and whether its app gives refresh tokens. One that is not found gives them. */
  readonly findToolkit: (slug: string) => Pick<Toolkit, "name" | "auth"> | undefined;
};

/** What the sandbox is made of. */
export type SandboxOptions = Omit<OauthOptions, "findToolkit"> & {
  readonly findToolkit?: OauthOptions["findToolkit"];
  /** Bounds of what it keeps in memory; the usual ones unless given. */
  readonly limits?: Partial<StoreLimits>;
  readonly turns?: TransportOptions["turns"];
  readonly findWhole?: TransportOptions["findWhole"];
};

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Most rows of a project of which it is kept which list showed them, and the characters of those of all projects. */
const seenPerProjectMax = 1000;
const seenCharactersMax = 8 * 1024 * 1024;

/** An emulator of every catalogued app inside the process, driven by the definitions. It listens nowhere and dials nothing. */
export type Sandbox = { readonly transport: AppTransport; readonly oauth: SandboxOauth };

/**
 * Makes a sandbox. What calls make, change and delete is kept per project in memory, and is gone with the process; the state is not
 * shared between nodes, OAuth tokens are.
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
  // What was there before lies before the day on which the sandbox began, and does not move with the days.
  const baseMs = Math.floor(options.clock.now() / dayMs) * dayMs - 15 * hourMs;
  // Rows that lists showed are let go of long before what calls made.
  const seen = new ObjectStore({
    ...limits,
    objectsPerProjectMax: seenPerProjectMax,
    charactersMax: seenCharactersMax,
  });
  return {
    transport: createSandboxTransport({ clock: options.clock, store, seen, baseMs, acceptsToken, turns, findWhole }),
    oauth,
  };
}

/** Makes the authorization server, and what tells its access tokens from others. */
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

/** Seals under keys of their own, derived from the service's. */
function createSeals(sealer: Sealer): Seals {
  const own = createSealer(sealer.subkeys("sandbox oauth"));
  const contextOf = (purpose: keyof Sealed) => `sandbox/oauth/${purpose}`;
  return {
    seal: (purpose, content) =>
      own.seal(Buffer.from(JSON.stringify(content), "utf8"), contextOf(purpose)).toString("base64url"),
    open(purpose, text, nowMs) {
      const bytes = Buffer.from(text, "base64url");
      // Decoding skips foreign characters; only the text that was handed out is accepted.
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
