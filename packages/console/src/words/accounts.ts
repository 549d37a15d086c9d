import type { ConnectedAccount } from "@svc/gen/connections";
import { unknownWord, type Word } from "./word.ts";

/** The states of a connected account (the values of `ConnectedAccount.state`). */
export const accountStates = ["pending", "active", "expired", "superseded", "revoked"] as const;

/** One of the states of a connected account. */
export type AccountState = (typeof accountStates)[number];

const words: Record<AccountState, Omit<Word, "word">> = {
  pending: {
    label: "Waiting for consent",
    tone: "info",
    icon: "clock",
    says: "The owner has not agreed yet. The link works for 10 minutes.",
  },
  active: { label: "Active", tone: "ok", icon: "check", says: "svc calls tools with this account." },
  expired: {
    label: "Expired",
    tone: "bad",
    icon: "alert",
    says: "The app refused the credential, or the credential is too old. Connect the account again.",
  },
  superseded: {
    label: "Replaced",
    tone: "plain",
    icon: "replay",
    says: "A newer account of the same user replaced this one.",
  },
  revoked: {
    label: "Deleted",
    tone: "plain",
    icon: "ban",
    says: "The account was deleted, and its credentials are erased.",
  },
};

/** Returns the word, colour and icon with which the console shows the state of a connected account. */
export function accountWord(state: string): Word {
  const known = (words as Record<string, Omit<Word, "word">>)[state];
  return known === undefined ? unknownWord(state) : { word: state, ...known };
}

const schemes: Record<string, string> = {
  oauth2: "Sign in at the app",
  api_key: "API key",
  basic: "User name and password",
  none: "No credential",
  client_credentials: "The project's own credential",
};

/**
 * Returns the name of an authentication scheme for people who connect an account. A scheme that this console does not know is returned
 * unchanged.
 */
export function schemeWords(scheme: string): string {
  return schemes[scheme] ?? scheme;
}

/** Returns the word that says if an app has granted an OAuth scope: `granted` or `missing`. */
export function scopeWord(isGranted: boolean): Word {
  return isGranted
    ? { word: "granted", label: "Granted", tone: "ok", icon: "check", says: "The app granted this permission." }
    : {
        word: "missing",
        label: "Missing",
        tone: "bad",
        icon: "cross",
        says: "Tools that need this permission are refused. Reconnect the account, and grant it.",
      };
}

/**
 * Returns in words if an account's credential works (for example `not tried yet` or `refused`). The page shows the time of the last test
 * after the words.
 */
export function credentialWords({ scheme, sandbox, credentialTry }: CredentialFacts): string {
  if (scheme === "none") return "none needed";
  if (sandbox) return "not tried: sandbox";
  if (credentialTry === undefined) return "not tried yet";
  return credentialTry.outcome === "worked" ? "worked" : "refused";
}

type CredentialFacts = Pick<ConnectedAccount, "scheme" | "sandbox" | "credentialTry">;

const outcomes: Record<string, { readonly title: string; readonly tone: Word["tone"] }> = {
  works: { title: "The credential works.", tone: "ok" },
  refused: { title: "The app refused the credential.", tone: "bad" },
  unknown: { title: "svc can't tell whether the credential works.", tone: "warn" },
};

/** Returns the title and the tone (which sets the colour) for the outcome of a connection test. */
export function testWords(outcome: string): { readonly title: string; readonly tone: Word["tone"] } {
  return outcomes[outcome] ?? { title: outcome, tone: "plain" };
}
