/** What a grant may do, by the access classes of tools. */
export const accessScopes = ["read", "write", "destructive"] as const;

/** One of them. */
export type AccessScope = (typeof accessScopes)[number];

/** What a client is told to ask for at first: it asks for more once a call needs it. */
export const firstScopes: readonly AccessScope[] = ["read", "write"];
