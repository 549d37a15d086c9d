import type { AccountId, ProjectId, Sealer } from "@svc/core";

/** The tokens of a connected account, with the values that are needed to renew them. Times are in epoch milliseconds. */
export type TokenSet = {
  readonly access_token: string;
  /** Refresh token. Absent if the app returned none, or if the definition of the app declares that there is none. */
  readonly refresh_token?: string;
  /** Expiry time of the access token, in epoch milliseconds. Absent if the app's answer contains no lifetime. */
  readonly expires_at?: number;
  readonly obtained_at: number;
};

/**
 * The decrypted credential of a connected account. `scheme`: the way in which the app authenticates. With `oauth2`, the credential contains
 * only the PKCE code verifier until the user has consented, and the tokens afterwards.
 */
export type Credential = (
  | { readonly scheme: "api_key"; readonly key: string }
  | { readonly scheme: "basic"; readonly username: string; readonly password: string }
  | { readonly scheme: "none" }
  | { readonly scheme: "oauth2"; readonly code_verifier: string }
  | ({ readonly scheme: "oauth2" } & TokenSet)
  | {
      readonly scheme: "client_credentials";
      readonly client_id: string;
      readonly client_secret: string;
      readonly token?: TokenSet;
    }
) & {
  /** The app's own id of the account, as the app reported it. */
  readonly verified_reference?: string;
};

type Place = { readonly projectId: ProjectId; readonly id: AccountId };

/** Encrypts a credential for the row that stores it. It cannot be decrypted for another row, table or project. */
export function sealCredential(sealer: Sealer, place: Place, credential: Credential): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify(credential), "utf8"), contextOf(place));
}

/** Decrypts an account's credential. Throws SealError if that fails. */
export function openCredential(sealer: Sealer, place: Place, sealed: Uint8Array): Credential {
  return JSON.parse(sealer.open(sealed, contextOf(place)).toString("utf8")) as Credential;
}

function contextOf({ projectId, id }: Place): string {
  return `${projectId}/connected_accounts/${id}`;
}

/** Returns the token of a credential, or undefined if it has none yet. */
export function tokenOf(credential: Credential): TokenSet | undefined {
  if (credential.scheme === "client_credentials") return credential.token;
  return credential.scheme === "oauth2" && "access_token" in credential ? credential : undefined;
}
