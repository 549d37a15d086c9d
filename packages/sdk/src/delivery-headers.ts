import { DeliveryVerificationError } from "./delivery-verification-error.ts";

/** Headers in a server's form: a Headers object, Node's `req.headers`, or a plain record with names in any case. */
export type DeliveryHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The id, time and signatures of the Standard Webhooks headers. */
export type StandardSignature = { id: string; timestamp: string; signatures: string };

/** The contents of a delivery's headers before verification. At least one of the two signatures is present. */
export type ClaimedDelivery = {
  deliveryId: string;
  /** The values of X-Svc-Signature and, during a rotation of the secret, X-Svc-Signature-Next. */
  bodySignatures: readonly string[];
  standard: StandardSignature | undefined;
};

/**
 * Returns the delivery id and the signatures from the headers of a webhook delivery. Throws a DeliveryVerificationError if they are
 * missing, or if two headers have different delivery ids.
 */
export function readDeliveryHeaders(headers: DeliveryHeaders): ClaimedDelivery {
  const read = headerReader(headers);
  const bodySignatures = ["x-svc-signature", "x-svc-signature-next"].flatMap((name) => read(name) ?? []);
  const standard = readStandardSignature(read);
  if (bodySignatures.length === 0 && standard === undefined) {
    throw missing("x-svc-signature, or webhook-id, webhook-timestamp and webhook-signature");
  }
  const deliveryId = read("x-svc-delivery-id") ?? standard?.id;
  if (deliveryId === undefined) throw missing("x-svc-delivery-id");
  if (standard !== undefined && standard.id !== deliveryId) {
    throw new DeliveryVerificationError("delivery_id_mismatch", "the headers webhook-id and x-svc-delivery-id differ");
  }
  return { deliveryId, bodySignatures, standard };
}

function readStandardSignature(read: (name: string) => string | undefined): StandardSignature | undefined {
  const id = read("webhook-id");
  const timestamp = read("webhook-timestamp");
  const signatures = read("webhook-signature");
  if (id === undefined && timestamp === undefined && signatures === undefined) return undefined;
  // Throws if only some of the three Standard Webhooks headers are present. The delivery may have the header X-Svc-Signature as well. But
  // that signature covers no time, so it must not be used instead.
  if (id === undefined) throw missing("webhook-id");
  if (timestamp === undefined) throw missing("webhook-timestamp");
  if (signatures === undefined) throw missing("webhook-signature");
  return { id, timestamp, signatures };
}

/**
 * Returns a function that returns the value of a header by its lower-case name. The values of a repeated header are joined, as HTTP
 * defines; such a value matches no signature, so the delivery is refused.
 */
function headerReader(headers: DeliveryHeaders): (name: string) => string | undefined {
  if (isHeadersObject(headers)) return (name) => headers.get(name) ?? undefined;
  const byName = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    const text = typeof value === "object" ? value.join(", ") : value;
    const key = name.toLowerCase();
    const earlier = byName.get(key);
    if (text !== undefined) byName.set(key, earlier === undefined ? text : `${earlier}, ${text}`);
  }
  return (name) => byName.get(name);
}

function isHeadersObject(headers: DeliveryHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === "function";
}

function missing(names: string): DeliveryVerificationError {
  return new DeliveryVerificationError("headers_missing", `missing header: ${names}`);
}
