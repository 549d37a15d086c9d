import { connectionFaults } from "../errors.ts";

const lengthMax = 8192;

/** Throws CREDENTIAL_INVALID if the text cannot be a credential. */
export function checkSecret(field: string, text: string): void {
  if (text.length > lengthMax || /\p{Cc}/u.test(text) || !text.isWellFormed())
    throw connectionFaults.CREDENTIAL_INVALID(field);
}
