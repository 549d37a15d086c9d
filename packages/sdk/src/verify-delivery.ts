import { machineClock } from "./clock.ts";
import { type DeliveryBody, parseDeliveryBody } from "./delivery-body.ts";
import { type DeliveryHeaders, readDeliveryHeaders, type StandardSignature } from "./delivery-headers.ts";
import { DeliveryVerificationError } from "./delivery-verification-error.ts";

/** Options of verifyDelivery. They decide which signatures are too old to be accepted. */
export type VerifyDeliveryOptions = {
  /**
   * Maximum difference in seconds between now and the time at which svc signed the attempt. A time in the future is limited in the same
   * way. Default 300.
   */
  toleranceSeconds?: number;
  /** Returns the current time in epoch milliseconds. Default: the machine's clock. */
  now?: () => number;
};

/** A delivery that svc signed: its body, and its id. The receiver can recognize a repeated attempt by the id. */
export type VerifiedDelivery = DeliveryBody & {
  /** Id of the delivery, `dlv_…`. It is the same at every attempt. */
  deliveryId: string;
};

type Bytes = Uint8Array<ArrayBuffer>;

const secretPattern = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;
const bodySignaturePattern = /^sha256=([0-9a-f]{64})$/;
const standardSignaturePattern = /^v1,([A-Za-z0-9+/]{43}=)$/;
const encoder = new TextEncoder();

/**
 * Verifies a delivery and returns its body. `body` must be exactly the received bytes, before any JSON parser. svc may send two kinds of
 * signatures: X-Svc-Signature, and the three Standard Webhooks headers. At least one kind must be present, and each kind that is present
 * must be correct. During a rotation of the secret, the new and the former secret both verify. Only the Standard Webhooks headers have a
 * time; without them, an old delivery that is sent again is not refused. Compares in constant time. Rejects with a
 * DeliveryVerificationError.
 */
export async function verifyDelivery(
  headers: DeliveryHeaders,
  body: string | Uint8Array,
  secret: string,
  options: VerifyDeliveryOptions = {},
): Promise<VerifiedDelivery> {
  const standardKey = decodeSecret(secret);
  const claimed = readDeliveryHeaders(headers);
  const bytes = rawBytes(body);
  if (claimed.standard !== undefined) {
    checkTimestamp(claimed.standard.timestamp, options);
    await checkStandardSignature(claimed.standard, bytes, standardKey);
  }
  if (claimed.bodySignatures.length > 0) {
    await checkBodySignatures(claimed.bodySignatures, bytes, encoder.encode(secret));
  }
  return { ...parseDeliveryBody(bytes), deliveryId: claimed.deliveryId };
}

function decodeSecret(secret: string): Bytes {
  const key = secretPattern.test(secret) ? decodeBase64(secret.slice("whsec_".length)) : undefined;
  if (key !== undefined) return key;
  const message = "secret: expected the signingSecret that CreateSubscription returned, whsec_ and base64";
  throw new DeliveryVerificationError("secret_invalid", message);
}

function rawBytes(body: string | Uint8Array): Bytes {
  if (typeof body === "string") return encoder.encode(body);
  if (body instanceof Uint8Array) return new Uint8Array(body);
  const message = "body: expected the raw body as text or bytes; a parsed one is not what was signed";
  throw new DeliveryVerificationError("body_invalid", message);
}

function checkTimestamp(timestamp: string, { toleranceSeconds = 300, now = machineClock.now }: VerifyDeliveryOptions) {
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new DeliveryVerificationError("timestamp_invalid", "webhook-timestamp: expected whole seconds since 1970");
  }
  const ageSeconds = Math.floor(now() / 1000) - Number(timestamp);
  // The comparison is negated because every comparison with NaN is false. So a tolerance or a time that is NaN is also refused.
  if (!(Math.abs(ageSeconds) <= toleranceSeconds)) {
    const message = `webhook-timestamp is ${ageSeconds} s old: at most ${toleranceSeconds} s, either way, are tolerated`;
    throw new DeliveryVerificationError("timestamp_out_of_tolerance", message);
  }
}

async function checkStandardSignature({ id, timestamp, signatures }: StandardSignature, body: Bytes, key: Bytes) {
  const prefix = encoder.encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(prefix.length + body.length);
  signed.set(prefix);
  signed.set(body, prefix.length);
  // During a rotation of the secret, a delivery has one signature for each secret. Signatures of other versions than v1 are ignored.
  for (const signature of signatures.split(" ")) {
    const base64 = standardSignaturePattern.exec(signature)?.[1];
    const expected = base64 === undefined ? undefined : decodeBase64(base64);
    if (expected !== undefined && (await isHmac(expected, signed, key))) return;
  }
  throw new DeliveryVerificationError("signature_mismatch", "webhook-signature is not that of the id, time and body");
}

async function checkBodySignatures(signatures: readonly string[], body: Bytes, key: Bytes) {
  for (const signature of signatures) {
    const hex = bodySignaturePattern.exec(signature)?.[1];
    const expected = Uint8Array.from(hex?.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    if (await isHmac(expected, body, key)) return;
  }
  throw new DeliveryVerificationError("signature_mismatch", "x-svc-signature is not that of the body");
}

/**
 * True if the signature is the HMAC-SHA-256 of the signed bytes with this key. Uses WebCrypto, which compares in constant time and exists
 * in Node, browsers and edge runtimes.
 */
async function isHmac(signature: Bytes, signed: Bytes, key: Bytes): Promise<boolean> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const imported = await crypto.subtle.importKey("raw", key, algorithm, false, ["verify"]);
  return crypto.subtle.verify(algorithm, imported, signature, signed);
}

/**
 * Returns the bytes of a base64 text. Returns undefined if the text is not exactly the encoding of its bytes; `atob` alone would ignore
 * extra bits in the last character.
 */
function decodeBase64(text: string): Bytes | undefined {
  try {
    const binary = atob(text);
    return btoa(binary) === text ? Uint8Array.from(binary, (character) => character.charCodeAt(0)) : undefined;
  } catch {
    return undefined; // Base64 cannot have this length.
  }
}
