import { BodyError } from "./body.ts";
import type { BodyCharge } from "./body-budget.ts";

const [comma, openList, openObject] = [0x2c, 0x5b, 0x7b];
/** Smaller ones are not looked at: there are many of them, and what they become is less than what a node has for each call. */
const smallBytes = 4_096;
/** What a value becomes while it is checked, masked and written, bytes: a list of empty objects is thirty times as large as its text. */
const valueBytes = 96;

/**
 * Charges what the values of a body will take, until its charge is released. Every comma and opening bracket counts for one, also
 * those within texts: these may be JSON themselves. Throws BodyError `no_room`, with nothing charged any more.
 */
export function chargeValues(body: Uint8Array, charge: BodyCharge): void {
  if (body.byteLength < smallBytes) return;
  let values = 0;
  for (const byte of body) if (byte === comma || byte === openList || byte === openObject) values += 1;
  if (charge.take(values * valueBytes)) return;
  charge.refuse();
  throw new BodyError("no_room");
}
