import { type AccountId, createSealer, type LinkId, type ProjectId, SealError, type Sealer } from "@svc/core";

/** How long a person has from InitiateConnection, and again from the start page, to consent. */
export const consentMs = 10 * 60_000;

/** After this long a pending account cannot become active any more. */
export const consentTotalMs = 2 * consentMs;

/** What a consent is about. It travels sealed: as the start page's parameter, and with the browser's digest as OAuth's state. */
export type ConsentState = {
  readonly projectId: ProjectId;
  readonly accountId: AccountId;
  /** Empty for none. */
  readonly redirectUrl: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  /** SHA-256 of the cookie of the browser that went to the app, base64url; empty on the way to the start page. */
  readonly browser: string;
  /** The link by which a person asked for it, of whose consents one connects; undefined where a key asked. */
  readonly linkId?: LinkId | undefined;
};

/** Which of the two ways a state is good for: one never passes for the other. */
type StateUse = "start" | "callback";

/** Seals and opens consent states, under a key of their own: they are handed out. */
export type StateSealer = {
  seal(use: StateUse, state: ConsentState): string;
  /** Undefined when this service did not make it, or made it for the other use. */
  open(use: StateUse, text: string): ConsentState | undefined;
};

/** The state sealer of a vault. */
export function createStateSealer(sealer: Sealer): StateSealer {
  const own = createSealer(sealer.subkeys("oauth state"));
  const context = (use: StateUse) => `oauth state/${use}`;
  return {
    seal: (use, state) => own.seal(Buffer.from(JSON.stringify(state), "utf8"), context(use)).toString("base64url"),
    open(use, text) {
      const sealed = Buffer.from(text, "base64url");
      // Decoding skips foreign characters and spare bits; only the text that was handed out is accepted.
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
