import { BodyError } from "./body.ts";
import type { BodyCharge } from "./body-budget.ts";

/**
 * Size of a JSON body in bytes below which the memory of its parsed values is not charged to the memory budget. Small bodies are frequent,
 * and every call already has enough memory reserved for such values.
 */
const smallBytes = 4_096;
/**
 * Memory in bytes that one parsed value of a JSON body needs while svc checks, masks and writes the body. `containerBytes`: for a list or
 * object. `valueBytes`: for any other value. For example, a list of empty objects needs thirty times the size of its text.
 */
const [containerBytes, valueBytes] = [120, 24];
/**
 * Maximum number of bytes that svc charges for the parsed values of one body. The maximum is smaller than a sender's share of the memory
 * budget. So a sender without other running requests is never refused.
 */
const chargeMax = 20 * 1024 * 1024;
/** Estimated memory in bytes for each character of a parsed body, by character code. Only commas and opening brackets count. */
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
