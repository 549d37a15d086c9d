import { coreFaults } from "@svc/core";

const charactersMax = 255;

/** The caller's own name for a call; undefined for none. Throws IDEMPOTENCY_KEY_INVALID. */
export function readIdempotencyKey(key: string): string | undefined {
  if ([...key].length > charactersMax) throw coreFaults.IDEMPOTENCY_KEY_INVALID(key.length);
  return key === "" ? undefined : key;
}
