import { isObject, isReadableForm } from "@svc/core";

/** Longest life that is believed, seconds: ten years. */
const expiresInMax = 315_360_000;
const scopesMax = 1_000;
const scopeLengthMax = 500;

/** The members of a token endpoint's answer: JSON, or a form as some apps send in spite of RFC 6749, 5.1. Undefined for anything else. */
export function parseTokenBody(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // Null is as if it had not been said.
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
      : undefined;
  } catch {
    return parseForm(text);
  }
}

function parseForm(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!/^(?:[\w.-]+=[^&\s]*&?)+$/.test(text.trim()) || !isReadableForm(text)) return undefined;
  const form = new URLSearchParams(text.trim());
  const isTwice = [...form.keys()].some((name) => form.getAll(name).length > 1);
  return isTwice || !(form.has("access_token") || form.has("error")) ? undefined : Object.fromEntries(form);
}

/** Types of tokens that are not shown as they are, but used to sign requests with: nothing here can send them. */
const signingTypes = /^(?:dpop|pop|mac|hok)$/i;

/**
 * A token endpoint's answer without what apps get wrong around the token: what cannot be read is left out as if it had not been
 * said. A code is good once and a refresh token may have been rotated, so an answer must not be lost for its extras. Also an
 * id_token is left out: nothing here is decided by one. A type that names whose token it is (`bot`, `user`) is that of a bearer.
 */
export function cleanTokenBody(body: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { id_token: _dropped, token_type, expires_in, refresh_token, scope, ...rest } = body;
  if (typeof rest["access_token"] !== "string") return { ...body };
  const expiresIn = secondsOf(expires_in);
  return {
    ...rest,
    token_type: typeof token_type === "string" && signingTypes.test(token_type) ? token_type : "bearer",
    ...(expiresIn === undefined ? {} : { expires_in: expiresIn }),
    ...(typeof refresh_token === "string" && refresh_token !== "" ? { refresh_token } : {}),
    scope: scopesOf(scope).join(" "),
  };
}

/** Whole seconds, also where they are written as text; undefined for what is no life of a token. */
function secondsOf(value: unknown): number | undefined {
  const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  const [, number] = /^(\d+(?:\.\d+)?)s?$/.exec(text) ?? [];
  const seconds = Number(number);
  return seconds > 0 && seconds <= expiresInMax ? Math.max(1, Math.floor(seconds)) : undefined;
}

/**
 * The error that an answer without a token names, whatever its status: RFC 6749, 5.2 has a text, and some apps an object around it.
 * Undefined if it names none.
 */
export function tokenErrorOf(body: Readonly<Record<string, unknown>>): string | undefined {
  const { access_token: token, error } = body;
  if (typeof token === "string" && token !== "") return undefined;
  const named = isObject(error) ? [error["code"], error["type"], error["error"], error["status"]] : [error];
  const code = named.find((value) => typeof value === "string" && value !== "");
  if (typeof code === "string") return code;
  return isObject(error) ? "error" : undefined;
}

/** The first 1,000 scopes, of a text or of a list, separated by spaces or commas. RFC 6749, 3.3 has them of printable ASCII. */
export function scopesOf(value: unknown): string[] {
  const text = Array.isArray(value) ? value.filter((item) => typeof item === "string").join(" ") : value;
  if (typeof text !== "string") return [];
  const scopes = text.split(/[\s,]+/).filter((scope) => /^[\x21-\x7e]+$/.test(scope) && scope.length <= scopeLengthMax);
  return [...new Set(scopes)].slice(0, scopesMax);
}
