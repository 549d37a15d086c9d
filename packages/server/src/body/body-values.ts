import { BodyError } from "./body.ts";
import type { BodyCharge } from "./body-budget.ts";

/** Smaller ones are not looked at: there are many of them, and what they become is less than what a node has for each call. */
const smallBytes = 4_096;
/** What a value becomes while it is checked, masked and written, bytes: a list of empty objects is thirty times as large as its text. */
const [containerBytes, valueBytes] = [120, 24];
/** The most that is charged for one body, bytes: a sender who has nothing else under way is never told to try later. */
const chargeMax = 20 * 1024 * 1024;
/** What each byte of a text adds: an opening bracket is a list or an object, a comma is before any other value. */
const weights = new Uint8Array(256);
for (const [character, bytes] of [
  [",", valueBytes],
  ["[", containerBytes],
  ["{", containerBytes],
] as const) {
  weights[character.charCodeAt(0)] = bytes;
}

/**
 * Charges what will be made of a body's values: reckoned from its brackets and commas, those in texts as well, since an argument may
 * itself be JSON. Throws BodyError with reason `no_room`, the body counted as refused and given back, where that does not fit.
 */
export function chargeValues(body: Uint8Array, charge: BodyCharge): void {
  if (body.byteLength < smallBytes) return;
  let bytes = 0;
  for (let at = 0; at < body.length; at++) bytes += weights[body[at] ?? 0] ?? 0;
  if (charge.take(Math.min(bytes, chargeMax))) return;
  charge.refuse();
  throw new BodyError("no_room");
}
