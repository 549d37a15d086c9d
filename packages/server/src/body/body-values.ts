import { BodyError } from "./body.ts";
import type { BodyCharge } from "./body-budget.ts";

/** Bodies below this size are not counted: there are many of them, and their values need less than a node reserves for each call. */
const smallBytes = 4_096;
/** Bytes per value while it is checked, masked and written. A list of empty objects needs thirty times its text. */
const [containerBytes, valueBytes] = [120, 24];
/** Maximum charge for one body, bytes: a sender without other running requests is never asked to try later. */
const chargeMax = 20 * 1024 * 1024;
/** Weight of each byte of a text: an opening bracket starts a list or object, a comma precedes another value. */
const weights = new Uint8Array(256);
for (const [character, bytes] of [
  [",", valueBytes],
  ["[", containerBytes],
  ["{", containerBytes],
] as const) {
  weights[character.charCodeAt(0)] = bytes;
}

/**
 * Charges the memory of a body's values, estimated from its brackets and commas. Those inside texts count too, because an argument may
 * itself be JSON. Throws BodyError with reason `no_room` if it does not fit; the body is then counted as refused and released.
 */
export function chargeValues(body: Uint8Array, charge: BodyCharge): void {
  if (body.byteLength < smallBytes) return;
  let bytes = 0;
  for (let at = 0; at < body.length; at++) bytes += weights[body[at] ?? 0] ?? 0;
  if (charge.take(Math.min(bytes, chargeMax))) return;
  charge.refuse();
  throw new BodyError("no_room");
}
