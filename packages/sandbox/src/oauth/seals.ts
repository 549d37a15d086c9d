/** The facts of a private toolkit, which the sandbox cannot find by its slug. The requests that connect an account carry these facts. */
export type SealedApp = { readonly toolkit: string; readonly name: string; readonly refreshes: boolean };

/** The contents of the texts that the authorization server seals. Other parties can neither make nor read these texts. */
export type Sealed = {
  /** Contents of the sealed (encrypted) text in the address of the consent page. */
  app: SealedApp & { readonly expiresAtMs: number };
  /** Contents of the sealed (encrypted) text in the form of the consent page. */
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
  /** True if the app issues refresh tokens. If absent, this is looked up by the toolkit's slug. */
  readonly refreshes?: boolean;
};

/**
 * Seals and opens texts. Each text is sealed for one purpose, so a code cannot be used as a token. Other sealed values of the service
 * cannot be used as codes or tokens.
 */
export type TokenSeals = {
  seal<Purpose extends keyof Sealed>(purpose: Purpose, content: Sealed[Purpose]): string;
  /** Returns the contents of a sealed text. Returns undefined if the text was not sealed for this purpose, or is expired at `nowMs`. */
  open<Purpose extends keyof Sealed>(purpose: Purpose, text: string, nowMs: number): Sealed[Purpose] | undefined;
};
