/** What is to be known of a private toolkit, which its slug does not tell: it rides along with the requests of a connection. */
export type SealedApp = { readonly toolkit: string; readonly name: string; readonly refreshes: boolean };

/** The contents of what the authorization server hands out: sealed texts that nobody else can make or read. */
export type Sealed = {
  /** In the address of the consent page. */
  app: SealedApp & { readonly expiresAtMs: number };
  /** What the consent page was shown for. */
  consent: AuthorizationRequest & { readonly expiresAtMs: number };
  code: AuthorizationRequest & { readonly expiresAtMs: number };
  access: { readonly toolkit: string; readonly scope: string; readonly expiresAtMs: number; readonly serial: number };
  refresh: { readonly toolkit: string; readonly scope: string; readonly expiresAtMs: number; readonly serial: number };
};

/** An authorization request that was found in order (RFC 6749, 4.1.1; RFC 7636, 4.3). */
export type AuthorizationRequest = {
  readonly toolkit: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly state: string;
  readonly codeChallenge: string;
  /** Whether the app gives refresh tokens; absent where the slug tells it. */
  readonly refreshes?: boolean;
};

/** Seals and opens by purpose: a code is no token, and neither is any other sealed value of the service. */
export type TokenSeals = {
  seal<Purpose extends keyof Sealed>(purpose: Purpose, content: Sealed[Purpose]): string;
  /** Undefined when the text was not sealed for this purpose, or is expired at `nowMs`. */
  open<Purpose extends keyof Sealed>(purpose: Purpose, text: string, nowMs: number): Sealed[Purpose] | undefined;
};
