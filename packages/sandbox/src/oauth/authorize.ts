/** The address to which the browser is redirected. */
export type Redirect = { readonly redirect: string };

/** The client id that the sandbox accepts, with any secret. */
export const sandboxClientId = "sandbox";
