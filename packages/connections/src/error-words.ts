/** The codes of RFC 6749 (4.1.2.1, 5.2), and what servers add to say "not now": they tell nothing, whatever a secret looks like. */
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

/** Characters in a row that an error may share with a secret by chance. */
const sharedMax = 7;

/**
 * An app's OAuth error code for people to read: as it is where it has the form of one and has nothing of the secrets of the
 * exchange, else a phrase that stands for it; with the app's description of it, under the same rule. Some apps quote
 * what they were sent, and what they
 * say is kept.
 */
export function errorWords(error: string, secrets: readonly string[], description = ""): string {
  const isCode = /^[A-Za-z0-9_.-]{1,64}$/.test(error) && !secrets.some((secret) => sharesPart(error, secret));
  const code = known.has(error) || isCode ? `"${error}"` : "an error it names itself";
  return isShown(description, secrets) ? `${code} (${description})` : code;
}

/** Whether a description is a short sentence of printable ASCII that has nothing of a secret, and no word that may be one. */
function isShown(description: string, secrets: readonly string[]): boolean {
  const isSentence = /^[A-Za-z][\x20-\x7e]{0,199}$/.test(description) && !/[<>{}"]|:\/\//.test(description);
  if (!isSentence || secrets.some((secret) => sharesPart(description, secret))) return false;
  return description.split(/[\s.,:;()'=]+/).every((word) => word.length <= 24 && !(word.length > 7 && /\d/.test(word)));
}

/** Whether a text holds a secret, or so much of it that it cannot be chance. */
function sharesPart(text: string, secret: string): boolean {
  if (secret === "") return false;
  if (secret.length <= sharedMax) return text.includes(secret);
  for (let at = 0; at + sharedMax < text.length; at++) {
    if (secret.includes(text.slice(at, at + sharedMax + 1))) return true;
  }
  return false;
}
