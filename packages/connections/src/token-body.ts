/** Longest life that is believed, seconds: ten years. */
const expiresInMax = 315_360_000;
const scopesMax = 1_000;
const scopeLengthMax = 500;

/**
 * A token endpoint's answer without what apps get wrong around the token: what cannot be read is left out as if it had not been
 * said. A code is good once and a refresh token may have been rotated, so an answer must not be lost for its extras. Also an
 * id_token is left out: nothing here is decided by one.
 */
export function cleanTokenBody(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { id_token: _dropped, token_type, expires_in, refresh_token, scope, ...rest } = body;
  if (typeof rest["access_token"] !== "string") return { ...body };
  const expiresIn = secondsOf(expires_in);
  return {
    ...rest,
    token_type: typeof token_type === "string" && token_type !== "" ? token_type : "bearer",
    ...(expiresIn === undefined ? {} : { expires_in: expiresIn }),
    ...(typeof refresh_token === "string" && refresh_token !== "" ? { refresh_token } : {}),
    scope: scopesOf(scope).join(" "),
  };
}

/** Whole seconds, also where they are written as text; undefined for what is no life of a token. */
function secondsOf(value: unknown): number | undefined {
  const isNumber = typeof value === "number" || (typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value.trim()));
  const seconds = isNumber ? Number(value) : Number.NaN;
  return seconds > 0 && seconds <= expiresInMax ? Math.max(1, Math.floor(seconds)) : undefined;
}

/** The first 1,000 scopes, of a text or of a list, separated by spaces or commas. RFC 6749, 3.3 has them of printable ASCII. */
export function scopesOf(value: unknown): string[] {
  const text = Array.isArray(value) ? value.filter((item) => typeof item === "string").join(" ") : value;
  if (typeof text !== "string") return [];
  const scopes = text.split(/[\s,]+/).filter((scope) => /^[\x21-\x7e]+$/.test(scope) && scope.length <= scopeLengthMax);
  return [...new Set(scopes)].slice(0, scopesMax);
}
