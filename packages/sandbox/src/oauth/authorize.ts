/** Where the browser goes next. */
export type Redirect = { readonly redirect: string };

/** The client id that the sandbox knows; any secret beside it is accepted. */
export const sandboxClientId = "sandbox";
