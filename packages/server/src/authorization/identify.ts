import type { IncomingMessage } from "node:http";
import { type Clock, digestSecret, isWellFormedApiKey, type ProjectPrincipal } from "@svc/core";
import { isValidKey, type KeyCache, projectPrincipalOf } from "../auth/key-cache.ts";
import type { KeyUse } from "../auth/key-use.ts";
import { withinLimit } from "../console/links.ts";
import type { ConsoleOrigin } from "../console/proof.ts";
import type { Sessions } from "../console/sessions.ts";
import type { SignInLimit } from "../console/sign-in-limit.ts";
import { serverFaults } from "../errors.ts";

/** What tells who a person is. */
export type IdentifyOptions = {
  readonly clock: Clock;
  readonly keys: KeyCache;
  readonly use: KeyUse;
  readonly sessions: Sessions | undefined;
  readonly origin: ConsoleOrigin;
  readonly limit: SignInLimit;
  readonly addressOf: (req: IncomingMessage) => string;
};

/**
 * Finds the key that a person vouches with: of a seat of the console's session, whose other half the form has, or typed. Rejects with
 * SESSION_INVALID, API_KEY_INVALID, SIGN_INS_EXCEEDED, or because the store is away.
 */
export async function identify(
  form: URLSearchParams,
  req: IncomingMessage,
  options: IdentifyOptions,
): Promise<ProjectPrincipal> {
  const { clock, keys, use, sessions, origin } = options;
  const [seat, half, text] = [form.get("seat"), form.get("half"), form.get("key")?.trim()];
  if (seat !== null && half !== null && sessions !== undefined) {
    const cookie = origin.proofOf(req)?.cookie;
    const principal = await sessions.authenticate({ cookie, half, seat, originFault: origin.faultOf(req) });
    if (principal.kind === "project") return principal;
  }
  if (!text) throw serverFaults.KEY_NEEDED();
  return withinLimit(options, req, text, async () => {
    const key = await keys.find(digestSecret(text));
    if (key === undefined || !isValidKey(key, clock.now()))
      throw serverFaults.API_KEY_INVALID(text.startsWith("svc_") && !isWellFormedApiKey(text));
    use.note(key.id);
    return projectPrincipalOf(key);
  });
}
