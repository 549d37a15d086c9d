/** Address to which the sandbox's authorization page redirects the browser. */
export type Redirect = { readonly redirect: string };

/** The client id that the sandbox accepts, with any secret. */
export const sandboxClientId = "sandbox";
