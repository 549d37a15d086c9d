/** The bytes of an answer, and the same compressed, made when they are first asked for. */
export type Answer = { readonly body: Buffer; gzip(): Promise<Buffer> };
