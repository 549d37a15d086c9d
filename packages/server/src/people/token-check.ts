import { type Clock, dateOf, isObject, parseExactJson, requireText } from "@svc/core";
import type { JSONWebKeySet, JWTPayload } from "jose";
import { peopleFaults } from "./errors.ts";
import type { ProviderFetch } from "./provider-http.ts";

/** Checks tokens that the company's identity provider signed and that other parties present to svc. */
export type TokenCheck = {
  /**
   * Returns the claims of a token. Throws TOKEN_REFUSED unless the provider signed it for `audience`, its type is `type`, it has the claims
   * `required`, and it is at most five minutes old. `type` undefined accepts a token without a type.
   */
  verify(
    token: string,
    expected: { type?: string; audience: string; required: readonly string[] },
  ): Promise<JWTPayload>;
};

/** Signature algorithms that svc accepts. All of them use a key pair, so that only the provider can sign. */
const algorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const ageMax = "5 minutes";
/** Maximum difference of the clocks of svc and the provider, in seconds. */
const toleranceSeconds = 30;
/** Milliseconds for which the provider's keys are kept, and the least time between two reads of them. */
const [keysMs, againMs] = [60_000, 2_000];

/**
 * Returns the check of tokens that the company's identity provider signed. `describe`: returns the provider's metadata, which contains the
 * address of its public keys.
 */
export function createTokenCheck({
  clock,
  fetch,
  describe,
}: {
  readonly clock: Clock;
  readonly fetch: ProviderFetch;
  readonly describe: () => Promise<{ readonly issuer: string; readonly jwks_uri?: string | undefined }>;
}): TokenCheck {
  let known: { keys: JSONWebKeySet; atMs: number } | undefined;
  const read = async () => {
    const { jwks_uri: address } = await describe();
    if (address === undefined) throw peopleFaults.TOKEN_REFUSED("the provider names no keys");
    const answer = await fetch(address, {});
    const keys: unknown =
      answer.status === 200 ? parseExactJson(requireText(Buffer.from(await answer.arrayBuffer()))) : undefined;
    if (!isObject(keys)) throw peopleFaults.TOKEN_REFUSED("the keys of the provider cannot be read");
    known = { keys: keys as unknown as JSONWebKeySet, atMs: clock.now() };
    return known;
  };
  return {
    async verify(token, { type, audience, required }) {
      const { createLocalJWKSet, errors, jwtVerify } = await import("jose");
      const { issuer } = await describe();
      const check = async ({ keys }: { keys: JSONWebKeySet }) =>
        jwtVerify(token, createLocalJWKSet(keys), {
          ...{ algorithms, audience, issuer, maxTokenAge: ageMax, clockTolerance: toleranceSeconds },
          ...{
            requiredClaims: [...required],
            currentDate: dateOf(clock.now()),
            ...(type !== undefined && { typ: type }),
          },
        });
      try {
        const fresh = known !== undefined && clock.now() - known.atMs < keysMs ? known : await read();
        return (
          await check(fresh).catch(async (error: unknown) => {
            // The provider may have a new key since the last read.
            if (!(error instanceof errors.JWKSNoMatchingKey) || clock.now() - fresh.atMs < againMs) throw error;
            return check(await read());
          })
        ).payload;
      } catch (error) {
        if (error instanceof errors.JOSEError) throw peopleFaults.TOKEN_REFUSED(error.message);
        throw error;
      }
    },
  };
}
