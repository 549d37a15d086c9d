import { idempotencyKeyInvalid } from "../errors.ts";

const charactersMax = 255;

/** The caller's own name for a call; undefined for none. Throws IDEMPOTENCY_KEY_INVALID. */
export function readIdempotencyKey(key: string): string | undefined {
  if ([...key].length > charactersMax) throw idempotencyKeyInvalid(key);
  return key === "" ? undefined : key;
}
