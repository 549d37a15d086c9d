import type { AccountId, ProjectId, Sealer } from "@svc/core";

/** A token and what is needed to renew it; times in epoch milliseconds. */
export type TokenSet = {
  readonly access_token: string;
  /** Absent when the app gave none, or the toolkit declares that there are none. */
  readonly refresh_token?: string;
  /** When the access token runs out; absent when the app does not say. */
  readonly expires_at?: number;
  readonly obtained_at: number;
};

/** What is sealed for an account, by its scheme. `oauth2` holds its consent's verifier until it has tokens. */
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
  /** The app's own id of the account, learnt from the app itself. */
  readonly verified_reference?: string;
};

type Place = { readonly projectId: ProjectId; readonly id: AccountId };

/** Seals a credential for its row: no other row, table or project opens it. */
export function sealCredential(sealer: Sealer, place: Place, credential: Credential): Buffer {
  return sealer.seal(Buffer.from(JSON.stringify(credential), "utf8"), contextOf(place));
}

/** Opens an account's credential. Throws SealError. */
export function openCredential(sealer: Sealer, place: Place, sealed: Uint8Array): Credential {
  return JSON.parse(sealer.open(sealed, contextOf(place)).toString("utf8")) as Credential;
}

function contextOf({ projectId, id }: Place): string {
  return `${projectId}/connected_accounts/${id}`;
}

/** The token of a credential that carries one; undefined while there is none. */
export function tokenOf(credential: Credential): TokenSet | undefined {
  if (credential.scheme === "client_credentials") return credential.token;
  return credential.scheme === "oauth2" && "access_token" in credential ? credential : undefined;
}
