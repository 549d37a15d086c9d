import { type AccountId, createSealer, type LinkId, type ProjectId, SealError, type Sealer } from "@svc/core";

/** Milliseconds for a consent, from InitiateConnection to the start page, and again from there to the end. */
export const consentMs = 10 * 60_000;

/** Milliseconds after which a pending account cannot become active. */
export const consentTotalMs = 2 * consentMs;

/**
 * A consent in progress. It is sent around encrypted: first as a parameter of the start page, then, with the hash of the browser's cookie,
 * as the `state` of OAuth.
 */
export type ConsentState = {
  readonly projectId: ProjectId;
  readonly accountId: AccountId;
  /** Empty if none. */
  readonly redirectUrl: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** SHA-256 of the browser's cookie, base64url. Empty on the way to the start page. */
  readonly browser: string;
  /** The link through which a person connects. Only one of its consents can connect. Undefined if a key started the consent. */
  readonly linkId?: LinkId | undefined;
};

/** The use that a state is valid for. A state of one use is refused for the other. */
type StateUse = "start" | "callback";

/** Seals and opens consent states with a key of their own, because states are handed out. */
export type StateSealer = {
  seal(use: StateUse, state: ConsentState): string;
  /** Decrypts a state. Returns undefined if this service did not create the text, or created it for the other use. */
  open(use: StateUse, text: string): ConsentState | undefined;
};

/** Creates the state sealer of a vault. */
export function createStateSealer(sealer: Sealer): StateSealer {
  const own = createSealer(sealer.subkeys("oauth state"));
  const context = (use: StateUse) => `oauth state/${use}`;
  return {
    seal: (use, state) => own.seal(Buffer.from(JSON.stringify(state), "utf8"), context(use)).toString("base64url"),
    open(use, text) {
      const sealed = Buffer.from(text, "base64url");
      // Decoding ignores invalid characters and unused bits. The comparison ensures that only the exact text is accepted.
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
