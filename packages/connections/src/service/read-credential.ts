import type { InitiateConnectionRequest } from "@svc/gen/connections";
import type { Credential } from "../credential.ts";
import { connectionFaults } from "../errors.ts";

/** What stands for a credential that a caller of the sandbox leaves out. */
const madeUp = "sandbox";
const lengthMax = 8192;

type Given = Pick<InitiateConnectionRequest, "apiKey" | "basic">;

/**
 * The credential that a request carries for a scheme; undefined for oauth2, which brings its own. Throws CREDENTIAL_MISSING,
 * CREDENTIAL_UNEXPECTED and CREDENTIAL_INVALID.
 */
export function readCredential(
  scheme: string,
  { apiKey, basic }: Given,
  { isSandbox }: { isSandbox: boolean },
): Credential | undefined {
  if (scheme === "api_key" && apiKey === "" && !isSandbox) throw connectionFaults.CREDENTIAL_MISSING("apiKey", scheme);
  if (scheme === "basic" && (basic?.username ?? "") === "" && !isSandbox)
    throw connectionFaults.CREDENTIAL_MISSING("basic", scheme);
  if (scheme !== "api_key" && apiKey !== "") throw connectionFaults.CREDENTIAL_UNEXPECTED("apiKey", scheme);
  if (scheme !== "basic" && basic !== undefined) throw connectionFaults.CREDENTIAL_UNEXPECTED("basic", scheme);
  checkSecret("apiKey", apiKey);
  checkSecret("basic.username", basic?.username ?? "");
  checkSecret("basic.password", basic?.password ?? "");
  switch (scheme) {
    case "api_key":
      return { scheme, key: apiKey || madeUp };
    case "basic": {
      const username = basic?.username || madeUp;
      return { scheme, username, password: basic?.password || (isSandbox ? madeUp : "") };
    }
    case "none":
      return { scheme };
    default:
      return undefined;
  }
}

/** Throws CREDENTIAL_INVALID for a text that no credential can be. */
export function checkSecret(field: string, text: string): void {
  if (text.length > lengthMax || /\p{Cc}/u.test(text) || !text.isWellFormed())
    throw connectionFaults.CREDENTIAL_INVALID(field);
}
