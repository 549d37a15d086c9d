import type { KeyId } from "@svc/core";

/** What of a job tells who stands behind it. */
type OfKey = { readonly keyId: KeyId; readonly principalChain: readonly string[] };

/** A job's principal chain as its row keeps it: nothing where it is that of its key alone. */
export function storedChain({ keyId, principalChain }: OfKey): string[] {
  const isOfKey = principalChain.length === 1 && principalChain[0] === principalOf(keyId);
  return isOfKey ? [] : [...principalChain];
}

/** A job's principal chain. */
export function chainOfJob({ keyId, principalChain }: OfKey): string[] {
  return principalChain.length === 0 ? [principalOf(keyId)] : [...principalChain];
}

function principalOf(keyId: KeyId): string {
  return `key:${keyId}`;
}
