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
 * Maximum number of bytes that svc charges for the parsed values of one body, and for the body together with its values. Both are smaller
 * than a sender's smallest share of the memory budget (28 MiB). So a sender without other running requests is never refused.
 */
const [chargeMax, wholeMax] = [20 * 1024 * 1024, 27 * 1024 * 1024];
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
  if (body.byteLength >= smallBytes) take(bytesOfValues(body), body, charge);
}

/**
 * Charges the memory of a large body's values to the budget for bodies, estimated from brackets and commas. Between pieces of the body it
 * awaits `rest`, so that other work can run. If there is no room, releases the body and throws BodyError.
 */
export async function chargeValuesInTurns(
  body: Uint8Array,
  charge: BodyCharge,
  rest: () => Promise<void> | undefined,
): Promise<void> {
  let bytes = 0;
  for (const piece of piecesOf(body)) {
    bytes += bytesOfValues(piece);
    await rest();
  }
  take(bytes, body, charge);
}

/** Number of bytes of a large body that are examined at once. It takes less than a millisecond. */
const pieceBytes = 262_144;

/** Yields the bytes of a large body in pieces, in order. */
export function* piecesOf(body: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < body.byteLength; at += pieceBytes) yield body.subarray(at, at + pieceBytes);
}

function bytesOfValues(body: Uint8Array): number {
  let bytes = 0;
  for (let at = 0; at < body.length; at++) bytes += weights[body[at] ?? 0] ?? 0;
  return bytes;
}

function take(bytes: number, { byteLength }: Uint8Array, charge: BodyCharge): void {
  const room = byteLength < wholeMax ? Math.min(chargeMax, wholeMax - byteLength) : chargeMax;
  if (charge.take(Math.min(bytes, room))) return;
  charge.refuse();
  throw new BodyError("no_room");
}
