import { connectionFaults } from "../errors.ts";

const lengthMax = 8192;

/**
 * Throws CREDENTIAL_INVALID if a text cannot be a credential, because it is too long, has control characters or is not valid Unicode.
 * `field`: the request field that contains the text.
 */
export function checkSecret(field: string, text: string): void {
  if (text.length > lengthMax || /\p{Cc}/u.test(text) || !text.isWellFormed())
    throw connectionFaults.CREDENTIAL_INVALID(field);
}
