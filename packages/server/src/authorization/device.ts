import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { createMinuteCount, digestSecret, Fault, generateToken, hasRole, isPrintableText } from "@svc/core";
import { withTransaction } from "@svc/db/connect";
import { createApiKey, findKeyById, lockApiKey } from "@svc/db/keys/repo";
import {
  decideDeviceCode,
  findDeviceCode,
  findDeviceCodeOfPerson,
  insertDeviceCode,
  spendDeviceCode,
} from "@svc/db/people/device-codes";
import { generateKey } from "../admin/keys.ts";
import { auditAction } from "../audit/audit-action.ts";
import { isValidKey } from "../auth/key-cache.ts";
import { consolePath } from "../console/headers.ts";
import { withinLimit } from "../console/links.ts";
import { serverFaults } from "../errors.ts";
import { httpStatusOf } from "../rpc/connect-error.ts";
import type { AuthorizeOptions } from "./authorize.ts";
import { answerPage, type Html, html } from "./html.ts";
import { authorizationPaths } from "./metadata.ts";
import { createAddressLimit } from "./register.ts";
import { AuthorizationRefusal, answerUnkept, readForm } from "./serve.ts";

/**
 * Dependencies of the sign-in of programs (such as the command line), which a person approves in a browser. `keyMs`: lifetime of a
 * program's key in milliseconds.
 */
export type DeviceOptions = Pick<
  AuthorizeOptions,
  "db" | "clock" | "intake" | "mapError" | "sessions" | "origin" | "urlsOf" | "audit" | "limit" | "addressOf"
> & { readonly keyMs: number };

type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** Time in which a person must approve the sign-in of a program, in milliseconds. */
const codeMs = 600_000;
/** Seconds that a program waits between two questions for its key. */
const intervalSeconds = 5;
/** Maximum number of sign-ins that programs of one address may begin in a minute. */
const startsMax = 20;

const scriptOf = (url: URL) => readFileSync(fileURLToPath(url), "utf8");
const script = `${scriptOf(new URL("session-script.js", import.meta.url))}
${scriptOf(new URL("device-script.js", import.meta.url))}`;

/** Creates the handler at which a program begins its sign-in (RFC 8628, 3.1). It returns a code for the program and one for a person. */
export function createDeviceStart(options: DeviceOptions): Handler {
  const { db, clock, urlsOf } = options;
  const limit = createAddressLimit({ ...options, most: startsMax });
  return async (req, res) => {
    const waitMs = limit(req);
    if (waitMs !== undefined) {
      const why = `more than ${startsMax} sign-ins were begun from this address within a minute`;
      throw new AuthorizationRefusal("temporarily_unavailable", why, 429, Math.ceil(waitMs / 1_000));
    }
    const clientName = (await readForm(req, options)).get("client_name") ?? "a program";
    if (!isPrintableText(clientName, nameCharactersMax))
      throw new AuthorizationRefusal("invalid_request", "client_name must be at most 100 printable characters");
    const [deviceCode, userCode] = [generateToken(), generateUserCode()];
    const expiresAt = clock.now() + codeMs;
    const codes = { digest: digestSecret(deviceCode), userDigest: digestUserCode(userCode) };
    await insertDeviceCode(db, { ...codes, clientName, expiresAt });
    const address = `${urlsOf(req).issuer}${authorizationPaths.device}`;
    answerUnkept(res, 200, {
      ...{ device_code: deviceCode, user_code: userCode, verification_uri: address },
      ...{ verification_uri_complete: `${address}#${userCode}`, expires_in: codeMs / 1_000, interval: intervalSeconds },
    });
  };
}

const nameCharactersMax = 100;
/** Letters of the code for a person: without vowels, so that no words appear (RFC 8628, 6.1). */
const letters = "BCDFGHJKLMNPQRSTVWXZ";

function generateUserCode(): string {
  const bytes = Buffer.from(generateToken(), "base64url").subarray(0, 8);
  const text = [...bytes].map((byte) => letters[byte % letters.length]).join("");
  return `${text.slice(0, 4)}-${text.slice(4)}`;
}

function digestUserCode(text: string): Buffer {
  return digestSecret(`device ${text.toUpperCase().replaceAll(/[^A-Z]/g, "")}`);
}

/**
 * Creates the function that exchanges the code of a program for its key (RFC 8628, 3.4). The key has the role and the limits of the key of
 * the person who approved, and ends with it. Rejects with AuthorizationRefusal while no person has approved.
 */
export function createDeviceExchange(options: DeviceOptions): (form: URLSearchParams) => Promise<object> {
  const { db, clock, keyMs } = options;
  const hurry = createMinuteCount({ clock, most: (2 * 60) / intervalSeconds });
  return async (form) => {
    const digest = digestSecret(form.get("device_code") ?? "");
    if (hurry(digest.toString("latin1")) !== undefined) throw new AuthorizationRefusal("slow_down", "ask less often");
    const nowMs = clock.now();
    const code = await findDeviceCode(db, digest);
    if (code === undefined || code.expiresAt <= nowMs)
      throw new AuthorizationRefusal("expired_token", "the code is unknown or has expired: begin again");
    if (code.spentAt !== null) throw new AuthorizationRefusal("access_denied", "the sign-in was denied or is done");
    if (code.voucherKeyId === null)
      throw new AuthorizationRefusal("authorization_pending", "no person has approved yet");
    const { voucherKeyId: makerKeyId, clientName } = code;
    const { text, expiresAt } = await withTransaction(db, async (tx) => {
      // The lock prevents that the key of the person ends, or gets another role, before the new key is stored.
      await lockApiKey(tx, makerKeyId);
      const voucher = await findKeyById(tx, makerKeyId);
      if (voucher === undefined || !isValidKey(voucher, nowMs))
        throw new AuthorizationRefusal("access_denied", "the access of the person who approved has ended");
      if (!(await spendDeviceCode(tx, digest, nowMs)))
        throw new AuthorizationRefusal("access_denied", "the sign-in is done");
      const { projectId, role, entityId, accessClasses, toolkitSlugs, confirm } = voucher;
      const until = Math.min(nowMs + keyMs, voucher.expiresAt ?? Number.POSITIVE_INFINITY);
      const made = generateKey({
        ...{ projectId, role, name: `sign-in of ${clientName}`, expiresAt: until, makerKeyId, nowMs },
        ...{ entityId, accessClasses, toolkitSlugs, confirm },
      });
      await createApiKey(tx, made.key);
      return { text: made.text, expiresAt: until };
    });
    return { access_token: text, token_type: "Bearer", expires_in: Math.floor((expiresAt - nowMs) / 1_000) };
  };
}

/** Creates the page on which a signed-in person approves or denies the sign-in of a program. */
export function createDevicePage(options: DeviceOptions): { readonly GET: Handler; readonly POST: Handler } {
  return {
    GET: async (_req, res) => answerPage(res, { status: 200, title: "Let a program in?", script, body: question("") }),
    async POST(req, res) {
      try {
        answerPage(res, {
          status: 200,
          title: await decide(req, options),
          body: html`<p>You can close this page.</p>`,
        });
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        const said = `${error.message}. ${error.details[0]?.help ?? ""}`;
        answerPage(res, { status: httpStatusOf(error.code), title: "Let a program in?", script, body: question(said) });
      }
    },
  };
}

function question(fault: string): Html {
  return html`${fault === "" ? html`` : html`<div class="notice bad" role="alert"><strong>${fault}</strong></div>`}
<p>A program that you started shows a code. If you continue, it gets a key with your role in the project. Compare the code first.</p>
<form method="post" id="signed-in" hidden>
<input type="hidden" name="half" value="">
<div class="field"><label class="label" for="code">Code of the program</label><input id="code" name="code" required autocomplete="off" spellcheck="false"></div>
<div class="field"><label class="label" for="seat">Signed in to the console as</label><select id="seat" name="seat"></select></div>
<div class="buttons"><button type="submit" class="primary" name="decision" value="allow">Let it in</button>
<button type="submit" name="decision" value="deny">Deny</button></div>
</form>
<p id="signed-out">Sign in to <a href="..${consolePath}">the console</a> first, then open this page again.</p>`;
}

/** Stores the decision of the person who sends the form, and returns its title. Rejects with a fault if the form cannot be accepted. */
async function decide(req: IncomingMessage, options: DeviceOptions): Promise<string> {
  const { db, clock, sessions, origin, audit } = options;
  const originFault = origin.faultOf(req);
  if (originFault !== undefined) throw originFault;
  const form = await readForm(req, options);
  const [half, seat] = [form.get("half") ?? "", form.get("seat") ?? ""];
  if (sessions === undefined || seat === "admin") throw serverFaults.KEY_NEEDED();
  const cookie = origin.proofOf(req)?.cookie;
  const principal = await sessions.authenticate({ cookie, half, seat, originFault, isPortal: false });
  if (principal.kind !== "project" || !hasRole(principal.role, "viewer")) throw serverFaults.KEY_NEEDED();
  const text = form.get("code") ?? "";
  const code = await withinLimit(options, req, text, async () => {
    const found = await findDeviceCodeOfPerson(db, digestUserCode(text));
    if (found === undefined || found.expiresAt <= clock.now()) throw serverFaults.DEVICE_CODE_INVALID();
    return found;
  });
  const isAllowed = form.get("decision") === "allow";
  const { projectId, keyId } = principal;
  const about = { actor: principal, action: `DevicePage.${isAllowed ? "Allow" : "Deny"}`, projectId, entityId: "" };
  const isDecided = await auditAction(audit, { ...about, subject: keyId }, () =>
    decideDeviceCode(db, code.digest, isAllowed ? keyId : null, clock.now()),
  );
  if (!isDecided) throw serverFaults.DEVICE_CODE_INVALID();
  return isAllowed ? `${code.clientName} is signed in` : "The program was denied";
}
