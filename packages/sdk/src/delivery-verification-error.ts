/**
 * Why a delivery is refused:
 * - `secret_invalid`: the given secret is not a signing secret
 * - `headers_missing`
 * - `timestamp_invalid`
 * - `timestamp_out_of_tolerance`
 * - `signature_mismatch`
 * - `delivery_id_mismatch`: the two headers with the id differ
 * - `body_invalid`: the given value is not a raw body, or the signed text is not a delivery
 */
export type DeliveryVerificationReason =
  | "secret_invalid"
  | "headers_missing"
  | "timestamp_invalid"
  | "timestamp_out_of_tolerance"
  | "signature_mismatch"
  | "delivery_id_mismatch"
  | "body_invalid";

/**
 * Thrown if svc did not sign the delivery with the secret, or if it was signed too long ago. Answer such a request with 400 or 401, and do
 * nothing else.
 */
export class DeliveryVerificationError extends Error {
  /** The reason, for programs. The error's message explains the reason to people; it contains no secret. */
  readonly reason: DeliveryVerificationReason;

  constructor(reason: DeliveryVerificationReason, message: string) {
    super(message);
    this.name = "DeliveryVerificationError";
    this.reason = reason;
  }
}
