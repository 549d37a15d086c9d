/**
 * Facts that the sandbox's authorization server must know about a private toolkit (defined by one project): the name of its app, and if the
 * app refreshes tokens. The server cannot look up a private toolkit by its slug. So the requests that connect an account carry these data in
 * encrypted form.
 */
export type SealedApp = { readonly toolkit: string; readonly name: string; readonly refreshes: boolean };

/**
 * Contents of the texts that the sandbox's authorization server encrypts, such as codes and access tokens. No other program can make or
 * read these texts.
 */
export type Sealed = {
  /** Contents of the sealed (encrypted) text in the address of the consent page. */
  app: SealedApp & { readonly expiresAtMs: number };
  /** Content of the encrypted form field of the consent page, by which the page keeps the authorization request. */
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
  /**
   * True if the app issues refresh tokens. If this field is absent, the sandbox finds the answer in the catalog, by the slug of the app.
   */
  readonly refreshes?: boolean;
};

/**
 * Encrypts and decrypts authorization codes and tokens of the sandbox. Each text is encrypted for one purpose, so an authorization code
 * cannot be used as a token. Encrypted values from elsewhere in the service cannot be used as codes or tokens.
 */
export type TokenSeals = {
  seal<Purpose extends keyof Sealed>(purpose: Purpose, content: Sealed[Purpose]): string;
  /**
   * Returns the decrypted content of a text. Returns undefined if the text was not encrypted for this purpose, or is expired at `nowMs`.
   */
  open<Purpose extends keyof Sealed>(purpose: Purpose, text: string, nowMs: number): Sealed[Purpose] | undefined;
};
