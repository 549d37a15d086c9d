import { asWritten, documentType } from "./document.ts";

/** Whom a link of the console is for, and for what; what its purpose does not need is left out. */
export type LinkTarget = {
  /** Of a link to an answer. */
  readonly answer?: {
    readonly jobId: string;
    readonly requestId: string;
    readonly principalId: string;
    /** When that contact was made, epoch milliseconds: a later one of the same name is another. Links of before 0.2 have none. */
    readonly contactCreatedAt?: number;
  };
  /** Of what a user confirms in a client: which call it is good for. */
  readonly confirm?: { readonly name: string };
  /** Of a link to a connection. */
  readonly connect?: {
    readonly toolkitSlug: string;
    readonly entityId: string;
    readonly scheme: string;
    readonly redirectUrl: string;
    /** The account that it made and that may wait for consent; empty for none. */
    readonly accountId: string;
  };
};

/** How `console_links.target` is stored. */
export const linkTargetDocument = documentType<LinkTarget>("console_links.target", [asWritten]);
