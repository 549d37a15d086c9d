import { hash } from "node:crypto";
import type { Action } from "@svc/catalog";
import type { AppRequest } from "@svc/connections";
import { createHmacKey, type HmacKey, hmacSha256, isObject, type ProjectId, type Sealer } from "@svc/core";

/** The longest key that is sent where the definition names no limit: 64 hexadecimal digits. */
const keyMax = 64;

/** Whether the app makes repeats of this tool harmless by a key. */
export function takesKey({ idempotency }: Action): boolean {
  return idempotency !== undefined;
}

/** The arguments with the app's idempotency key among them, where the tool takes it as an argument. A caller's own value wins. */
export function withKeyArgument(
  { idempotency, inputSchema }: Action,
  params: Readonly<Record<string, unknown>>,
  key: string,
): Readonly<Record<string, unknown>> {
  const name = idempotency?.argument;
  if (name === undefined || params[name] !== undefined) return params;
  const properties = inputSchema["properties"] as Readonly<Record<string, { maxLength?: number }>> | undefined;
  const lengthMax = idempotency?.maxLength ?? properties?.[name]?.maxLength ?? keyMax;
  return { ...params, [name]: key.slice(0, lengthMax) };
}

/** The request with the app's idempotency key in its header, where the tool takes it there. One that is there already wins. */
export function withKeyHeader({ idempotency }: Action, request: AppRequest, key: string): AppRequest {
  const name = idempotency?.header?.toLowerCase();
  if (name === undefined || request.headers[name] !== undefined) return request;
  return { ...request, headers: { ...request.headers, [name]: key.slice(0, idempotency?.maxLength ?? keyMax) } };
}

/**
 * A key for the app: the same for every repeat of a call, another for another call under a key that was freed, and it tells the
 * app nothing of the caller's own key.
 */
export function deriveKey(projectId: string, callerKey: string, callDigest: Buffer): string {
  return hash("sha256", JSON.stringify(["svc-idempotency", projectId, callerKey, callDigest.toString("hex")]), "hex");
}

/**
 * SHA-256 of what an idempotency key is bound to: the tool, the account asked for, and the arguments but for `confirm`. It is kept
 * and shown nowhere: whoever has it could try short sensitive values until one fits.
 */
export function digestCall(parts: {
  toolSlug: string;
  account: string;
  args: Readonly<Record<string, unknown>>;
}): Buffer {
  const { confirm: _confirm, ...args } = parts.args;
  return hash("sha256", canonicalJson([parts.toolSlug, parts.account, args]), "buffer");
}

/** Makes of a call's digest what may be kept and shown. */
export type DigestKeys = {
  /** HMAC-SHA-256 under the vault, of project and digest: nobody outside can try values, or compare projects. */
  protect(projectId: ProjectId, callDigest: Buffer): Buffer;
  /** Whether what was kept is of this digest, whichever of the vault keys was the first then. */
  isOf(projectId: ProjectId, callDigest: Buffer, kept: Buffer): boolean;
};

/** The keys of call digests, derived from the vault's. */
export function createDigestKeys(sealer: Sealer): DigestKeys {
  const purpose = "tool-call-digest";
  // A key that is prepared once: with raw bytes every digest costs five times as much.
  const first = createHmacKey(sealer.subkey(purpose));
  const all = sealer.subkeys(purpose).map(({ secret }) => createHmacKey(secret));
  const keyed = (key: HmacKey, projectId: ProjectId, callDigest: Buffer) =>
    Buffer.from(hmacSha256(key, [projectId, callDigest], "hex"), "hex");
  return {
    protect: (projectId, callDigest) => keyed(first, projectId, callDigest),
    isOf: (projectId, callDigest, kept) => all.some((key) => keyed(key, projectId, callDigest).equals(kept)),
  };
}

/** JSON with the keys of every object in one order, so that equal values are equal texts. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, child: unknown) => {
    if (!isObject(child) || isSorted(Object.keys(child))) return child;
    return Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

function isSorted(keys: readonly string[]): boolean {
  return keys.every((key, index) => index === 0 || (keys[index - 1] ?? "") < key);
}
