import { type AccountId, createSealer, type LinkId, type ProjectId, SealError, type Sealer } from "@svc/core";

/**
 * Maximum time in milliseconds for each of the two parts of a consent: from InitiateConnection to the start page, and from the start page
 * to the end.
 */
export const consentMs = 10 * 60_000;

/**
 * Maximum time in milliseconds from InitiateConnection to the end of the consent. A pending account that is older can no longer become
 * active.
 */
export const consentTotalMs = 2 * consentMs;

/**
 * A consent in progress. It is sent encrypted: first as a parameter of the start page's address, then as the OAuth parameter `state` (now
 * with the hash of the browser's cookie).
 */
export type ConsentState = {
  readonly projectId: ProjectId;
  readonly accountId: AccountId;
  /** Address to which the browser is sent after the consent. Empty if the caller gave none. */
  readonly redirectUrl: string;
  /** Time at which this consent state expires, in epoch milliseconds. */
  readonly expiresAt: number;
  /** SHA-256 of the browser's cookie, in base64url. Empty until the start page has set the cookie. */
  readonly browser: string;
  /**
   * The link through which a person connects. Of all consents of a link, only one can connect an account. Undefined if an API key started
   * the consent.
   */
  readonly linkId?: LinkId | undefined;
};

/**
 * The page at which an OAuth state is valid. The state is the encrypted text that belongs to one consent. A state for one of the two pages
 * is refused at the other.
 */
type StateUse = "start" | "callback";

/** Encrypts and decrypts consent states. It uses its own key, separate from the key of stored data, because states leave the service. */
export type StateSealer = {
  seal(use: StateUse, state: ConsentState): string;
  /**
   * Decrypts the OAuth `state` parameter that svc made for the page `use` (`start` or `callback`). Returns undefined if this service did
   * not make the text, or made it for the other page.
   */
  open(use: StateUse, text: string): ConsentState | undefined;
};

/** Creates the object that encrypts and decrypts the OAuth parameter `state` with the keys of a vault. */
export function createStateSealer(sealer: Sealer): StateSealer {
  const own = createSealer(sealer.subkeys("oauth state"));
  const context = (use: StateUse) => `oauth state/${use}`;
  return {
    seal: (use, state) => own.seal(Buffer.from(JSON.stringify(state), "utf8"), context(use)).toString("base64url"),
    open(use, text) {
      const sealed = Buffer.from(text, "base64url");
      // Decoding ignores invalid characters and unused bits, so this comparison accepts only exactly the text that svc created.
      if (text === "" || sealed.toString("base64url") !== text) return undefined;
      try {
        return JSON.parse(own.open(sealed, context(use)).toString("utf8")) as ConsentState;
      } catch (error) {
        if (error instanceof SealError) return undefined;
        throw error;
      }
    },
  };
}
