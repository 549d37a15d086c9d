/**
 * Why a delivery is refused: `secret_invalid` (the given secret is no signing secret), `headers_missing`, `timestamp_invalid`,
 * `timestamp_out_of_tolerance`, `signature_mismatch`, `delivery_id_mismatch` (the two headers with the id differ) and
 * `body_invalid` (what was given is no raw body, or what was signed is no delivery).
 */
export type DeliveryVerificationReason =
  | "secret_invalid"
  | "headers_missing"
  | "timestamp_invalid"
  | "timestamp_out_of_tolerance"
  | "signature_mismatch"
  | "delivery_id_mismatch"
  | "body_invalid";

/** Thrown when a delivery is not what svc signed with the secret, or not now. Answer it with 400 or 401 and do nothing else. */
export class DeliveryVerificationError extends Error {
  /** What failed, for a program; the message says it for a person and holds no secret. */
  readonly reason: DeliveryVerificationReason;

  constructor(reason: DeliveryVerificationReason, message: string) {
    super(message);
    this.name = "DeliveryVerificationError";
    this.reason = reason;
  }
}
