/**
 * Error codes of RFC 6749 (4.1.2.1, 5.2), and codes that servers add for temporary failures. They are always shown, because they cannot be
 * part of a secret.
 */
const known = new Set([
  "access_denied",
  "invalid_client",
  "invalid_grant",
  "invalid_request",
  "invalid_scope",
  "server_error",
  "slow_down",
  "temporarily_unavailable",
  "unauthorized_client",
  "unsupported_grant_type",
  "unsupported_response_type",
]);

/** Maximum number of consecutive characters that an error and a secret may share by chance. */
const sharedMax = 7;

/**
 * Returns the OAuth error that an app reported, in a form that svc may store and show. The app's error code is returned unchanged if it
 * consists of letters, digits, `_`, `.` and `-` and contains no part of the given secrets. Otherwise a general phrase replaces it. The
 * app's description is added only if it passes a similar check. The checks are needed because some apps quote the request, with its
 * secrets, in their errors.
 */
export function errorWords(error: string, secrets: readonly string[], description = ""): string {
  const isCode = /^[A-Za-z0-9_.-]{1,64}$/.test(error) && !secrets.some((secret) => sharesPart(error, secret));
  const code = known.has(error) || isCode ? `"${error}"` : "an error it names itself";
  return isShown(description, secrets) ? `${code} (${description})` : code;
}

/**
 * True if a description can be shown: a short sentence of printable ASCII without any part of a secret and without a word that looks like a
 * secret.
 */
function isShown(description: string, secrets: readonly string[]): boolean {
  const isSentence = /^[A-Za-z][\x20-\x7e]{0,199}$/.test(description) && !/[<>{}"]|:\/\//.test(description);
  if (!isSentence || secrets.some((secret) => sharesPart(description, secret))) return false;
  return description.split(/[\s.,:;()'=]+/).every((word) => word.length <= 24 && !(word.length > 7 && /\d/.test(word)));
}

/** True if a text contains a secret, or shares so many consecutive characters with a secret that this cannot be chance. */
function sharesPart(text: string, secret: string): boolean {
  if (secret === "") return false;
  if (secret.length <= sharedMax) return text.includes(secret);
  for (let at = 0; at + sharedMax < text.length; at++) {
    if (secret.includes(text.slice(at, at + sharedMax + 1))) return true;
  }
  return false;
}
