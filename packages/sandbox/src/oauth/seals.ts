/** The facts of a private toolkit that cannot be found by its slug: the requests of a connection carry them. */
export type SealedApp = { readonly toolkit: string; readonly name: string; readonly refreshes: boolean };

/** The contents of the authorization server's sealed texts, which others can neither make nor read. */
export type Sealed = {
  /** Part of the address of the consent page. */
  app: SealedApp & { readonly expiresAtMs: number };
  /** Part of the consent page's form. */
  consent: AuthorizationRequest & { readonly expiresAtMs: number };
  code: AuthorizationRequest & { readonly expiresAtMs: number };
  access: { readonly toolkit: string; readonly scope: string; readonly expiresAtMs: number; readonly serial: number };
  refresh: { readonly toolkit: string; readonly scope: string; readonly expiresAtMs: number; readonly serial: number };
};

/** A valid authorization request (RFC 6749, 4.1.1; RFC 7636, 4.3). */
export type AuthorizationRequest = {
  readonly toolkit: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly state: string;
  readonly codeChallenge: string;
  /** True if the app gives refresh tokens; missing if the slug determines it. */
  readonly refreshes?: boolean;
};

/** Seals and opens texts by purpose: a code cannot be used as a token, nor can any other sealed value of the service. */
export type TokenSeals = {
  seal<Purpose extends keyof Sealed>(purpose: Purpose, content: Sealed[Purpose]): string;
  /** Returns undefined if the text was not sealed for this purpose, or is expired at `nowMs`. */
  open<Purpose extends keyof Sealed>(purpose: Purpose, text: string, nowMs: number): Sealed[Purpose] | undefined;
};
