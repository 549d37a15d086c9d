import { BodyError } from "./body.ts";
import type { BodyCharge } from "./body-budget.ts";

/**
 * Size in bytes up to which the values of a body are not charged to the memory budget. Small bodies are frequent, and their values need
 * less memory than a node reserves for each call.
 */
const smallBytes = 4_096;
/**
 * Memory per value while svc checks, masks and writes it, in bytes. `containerBytes`: for a list or object. `valueBytes`: for other values.
 * A list of empty objects needs thirty times the size of its text.
 */
const [containerBytes, valueBytes] = [120, 24];
/**
 * Maximum bytes of memory that svc counts for the values of one body. It is low enough that a sender without other running requests is
 * never refused.
 */
const chargeMax = 20 * 1024 * 1024;
/**
 * Estimated memory of a parsed body, in bytes, for each character code of its text. An opening bracket begins a list or object. A comma
 * comes before another value.
 */
const weights = new Uint8Array(256);
for (const [character, bytes] of [
  [",", valueBytes],
  ["[", containerBytes],
  ["{", containerBytes],
] as const) {
  weights[character.charCodeAt(0)] = bytes;
}

/**
 * Charges the memory of a body's values, estimated from its brackets and commas. Brackets and commas inside strings count too, because an
 * argument may itself be JSON text. If there is no room, counts the body as refused, releases it, and throws BodyError with reason
 * `no_room`.
 */
export function chargeValues(body: Uint8Array, charge: BodyCharge): void {
  if (body.byteLength < smallBytes) return;
  let bytes = 0;
  for (let at = 0; at < body.length; at++) bytes += weights[body[at] ?? 0] ?? 0;
  if (charge.take(Math.min(bytes, chargeMax))) return;
  charge.refuse();
  throw new BodyError("no_room");
}
