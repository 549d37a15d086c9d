import type { TokenSet } from "./credential.ts";
import type { TokenEndpointAnswer } from "./token-endpoint.ts";

const aheadMs = 5 * 60_000;
const dayMs = 24 * 3_600_000;
const useMs = 60_000;

/**
 * Returns the tokens in an answer of a token endpoint, which arrived at `nowMs`. Keeps the previous refresh token if the answer has none.
 */
export function toTokenSet(
  answer: TokenEndpointAnswer & { kind: "token" },
  { nowMs, refreshToken }: { nowMs: number; refreshToken?: string | undefined },
): TokenSet {
  const next = answer.refreshToken ?? refreshToken;
  return {
    access_token: answer.accessToken,
    ...(next === undefined ? {} : { refresh_token: next }),
    ...(answer.expiresIn === undefined ? {} : { expires_at: nowMs + answer.expiresIn * 1000 }),
    obtained_at: nowMs,
  };
}

/**
 * Returns the times of an account's next renewal (`refreshAt`) and of its expiry (`expiresAt`). A token is renewed 5 minutes before it
 * expires, a short-lived token at half its life, and every token at least daily. An account that cannot be renewed expires with its token.
 */
export function timesOf(token: TokenSet): { refreshAt: number | null; expiresAt: number | null } {
  const { expires_at: endMs, obtained_at: startMs } = token;
  if (token.refresh_token === undefined) return { refreshAt: endMs ?? null, expiresAt: endMs ?? null };
  const nextDay = startMs + dayMs;
  if (endMs === undefined) return { refreshAt: nextDay, expiresAt: null };
  const ahead = Math.max(endMs - aheadMs, startMs + (endMs - startMs) / 2);
  return { refreshAt: Math.round(Math.min(nextDay, ahead)), expiresAt: null };
}

/** True if a token has expired or expires soon: within a minute, or for a short-lived token within half of its life. */
export function runsOut(token: TokenSet, nowMs: number): boolean {
  if (token.expires_at === undefined) return false;
  return token.expires_at - nowMs < Math.min(useMs, (token.expires_at - token.obtained_at) / 2);
}
