import { createHmac } from "node:crypto";
import type { Webhook } from "@svc/catalog";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { InboundPost } from "./outcome.ts";
import { sampleCatalog, sampleSecrets } from "./test-node.ts";
import { changePost, issuePost, messagePost, paymentPost } from "./test-posts.ts";
import { secretsOf } from "./verify.ts";

const nowMs = Date.UTC(2026, 0, 5, 9, 0, 0);
const minute = 60_000;
const catalog = sampleCatalog();

function verify(post: InboundPost, secrets?: string, atMs = nowMs): boolean {
  const webhook = catalog.toolkits.get(post.toolkitSlug)?.webhook as Webhook;
  return webhook.isVerified(post, secretsOf(webhook, secrets ?? sampleSecrets[webhook.secretEnv]), { nowMs: atMs });
}

const withHeader = (post: InboundPost, name: string, value: string | undefined): InboundPost => {
  const { [name]: _, ...headers } = post.headers;
  return { ...post, headers: value === undefined ? headers : { ...headers, [name]: value } };
};
const edited = (post: InboundPost, name: string, edit: (value: string) => string) =>
  withHeader(post, name, edit(post.headers[name] as string));
const withBody = (post: InboundPost, body: Buffer): InboundPost => ({ ...post, body });
const withQuery = (post: InboundPost, text: string): InboundPost => ({ ...post, query: new URLSearchParams(text) });

const issue = issuePost();
const payment = paymentPost();
const message = messagePost(nowMs);
const change = changePost();
const code = "x-code-signature";
const pay = "x-pay-signature";
const slack = "x-slack-signature";
const time = "x-slack-request-timestamp";
const bare = createHmac("sha256", "code-host-secret").update(issue.body).digest("hex");

test.each<[string, InboundPost, boolean]>([
  ["hex with its prefix", issue, true],
  ["hex in upper case: the same bytes", edited(issue, code, (text) => `sha256=${text.slice(7).toUpperCase()}`), true],
  ["base64", payment, true],
  [
    "an empty body, signed",
    withBody(
      withHeader(issue, code, `sha256=${createHmac("sha256", "code-host-secret").digest("hex")}`),
      Buffer.alloc(0),
    ),
    true,
  ],
  ["hex without its prefix", withHeader(issue, code, bare), false],
  ["hex with its prefix in upper case", withHeader(issue, code, `SHA256=${bare}`), false],
  ["hex with a space after its prefix", withHeader(issue, code, `sha256= ${bare}`), false],
  ["hex with a newline at its end", withHeader(issue, code, `sha256=${bare}\n`), false],
  ["hex cut short by a digit", edited(issue, code, (text) => text.slice(0, -1)), false],
  ["hex cut short by a byte", edited(issue, code, (text) => text.slice(0, -2)), false],
  ["hex with a byte too many", edited(issue, code, (text) => `${text}00`), false],
  ["hex twice, joined as repeated headers are", edited(issue, code, (text) => `${text}, ${text}`), false],
  [
    "hex where base64 is declared",
    withHeader(payment, pay, createHmac("sha256", "payments-secret").update(payment.body).digest("hex")),
    false,
  ],
  [
    "base64 where hex is declared",
    withHeader(issue, code, `sha256=${createHmac("sha256", "code-host-secret").update(issue.body).digest("base64")}`),
    false,
  ],
  ["base64 without its padding", edited(payment, pay, (text) => text.slice(0, -1)), false],
  ["base64url", edited(payment, pay, (text) => `-_${text.slice(2)}`), false],
  ["base64 whose spare bits are set", edited(payment, pay, setSpareBits), false],
  ["a prefix alone", withHeader(issue, code, "sha256="), false],
  ["an empty signature", withHeader(issue, code, ""), false],
  ["an empty signature without prefix", withHeader(payment, pay, ""), false],
  ["no signature", withHeader(issue, code, undefined), false],
  ["no base64 signature", withHeader(payment, pay, undefined), false],
  [
    "SHA-1",
    withHeader(issue, code, `sha1=${createHmac("sha1", "code-host-secret").update(issue.body).digest("hex")}`),
    false,
  ],
  ["another secret", issuePost({}, "another"), false],
  ["an empty secret", issuePost({}, ""), false],
  ["another body", withBody(issue, Buffer.from("{}")), false],
  ["an empty body", withBody(issue, Buffer.alloc(0)), false],
  ["a body with a newline added", withBody(payment, Buffer.concat([payment.body, Buffer.from("\n")])), false],
  ["a signature of the digest of the body", withHeader(issue, code, `sha256=${"0".repeat(64)}`), false],
])("hmac_sha256: %s", (_what, post, isRight) => {
  expect(verify(post)).toBe(isRight);
});

test.each<[string, InboundPost, number, boolean]>([
  ["fresh", message, nowMs, true],
  ["5 minutes old", message, nowMs + 5 * minute, true],
  ["5 minutes ahead", message, nowMs - 5 * minute, true],
  ["hex in upper case", edited(message, slack, (text) => `v0=${text.slice(3).toUpperCase()}`), nowMs, true],
  ["stale by a millisecond", message, nowMs + 5 * minute + 1, false],
  ["ahead by a millisecond too much", message, nowMs - 5 * minute - 1, false],
  ["its timestamp in milliseconds", withHeader(message, time, String(nowMs)), nowMs, false],
  ["its timestamp with a fraction", edited(message, time, (text) => `${text}.0`), nowMs, false],
  ["its timestamp with a leading zero", edited(message, time, (text) => `0${text}`), nowMs, false],
  ["its timestamp signed", edited(message, time, (text) => `+${text}`), nowMs, false],
  ["its timestamp with a space", edited(message, time, (text) => `${text} `), nowMs, false],
  ["its timestamp empty", withHeader(message, time, ""), nowMs, false],
  ["its timestamp no number", withHeader(message, time, "now"), nowMs, false],
  ["its timestamp NaN", withHeader(message, time, "NaN"), nowMs, false],
  ["its timestamp gone", withHeader(message, time, undefined), nowMs, false],
  ["another timestamp of the same minute", edited(message, time, (text) => String(Number(text) + 1)), nowMs, false],
  [
    "a year old, replayed with a fresh timestamp",
    withHeader(messagePost(nowMs - 365 * 1440 * minute), time, String(nowMs / 1000)),
    nowMs,
    false,
  ],
  ["its version missing", edited(message, slack, (text) => text.slice(3)), nowMs, false],
  ["another version", edited(message, slack, (text) => `v1=${text.slice(3)}`), nowMs, false],
  ["cut short", edited(message, slack, (text) => text.slice(0, -2)), nowMs, false],
  ["its signature empty", withHeader(message, slack, ""), nowMs, false],
  ["its signature its version alone", withHeader(message, slack, "v0="), nowMs, false],
  ["its signature gone", withHeader(message, slack, undefined), nowMs, false],
  ["another secret", messagePost(nowMs, {}, "another"), nowMs, false],
  [
    "a body without the timestamp signed",
    withHeader(message, slack, `v0=${createHmac("sha256", "team-chat-secret").update(message.body).digest("hex")}`),
    nowMs,
    false,
  ],
])("slack_v0: %s", (_what, post, atMs, isRight) => {
  expect(verify(post, undefined, atMs)).toBe(isRight);
});

test.each<[string, InboundPost, boolean]>([
  ["the token", change, true],
  ["the token among other parameters", withQuery(change, "a=1&token=watcher-token&b=2"), true],
  ["the token escaped", withQuery(change, "token=%77atcher-token"), true],
  ["the token twice", withQuery(change, "token=watcher-token&token=watcher-token"), false],
  ["the token and another", withQuery(change, "token=watcher-token&token=x"), false],
  ["another and the token", withQuery(change, "token=&token=watcher-token"), false],
  ["an empty token", withQuery(change, "token="), false],
  ["no token", withQuery(change, ""), false],
  ["the token in another parameter", withQuery(change, "tokens=watcher-token"), false],
  ["the parameter in another case", withQuery(change, "Token=watcher-token"), false],
  ["the token in upper case", withQuery(change, "token=WATCHER-TOKEN"), false],
  ["the token cut short", withQuery(change, "token=watcher-toke"), false],
  ["the token with more", withQuery(change, "token=watcher-token1"), false],
  ["the token with a space", withQuery(change, "token=watcher-token%20"), false],
  ["the token with U+0000", withQuery(change, "token=watcher-token%00"), false],
])("token_query: %s", (_what, post, isRight) => {
  expect(verify(post)).toBe(isRight);
});

test.each([issue, payment, message, change])(
  "any of several secrets verifies, and no part of them ($toolkitSlug)",
  (post) => {
    const secret = sampleSecrets[catalog.toolkits.get(post.toolkitSlug)!.webhook!.secretEnv]!;
    expect(verify(post, `new-secret ${secret}`)).toBe(true);
    expect(verify(post, `${secret}\n\tnew-secret\n`)).toBe(true);
    expect(verify(post, "new-secret other")).toBe(false);
    expect(verify(post, `${secret},new-secret`)).toBe(false);
    expect(verify(post, "")).toBe(false);
    expect(verify(post, " \n\t ")).toBe(false);
  },
);

test.each([
  [undefined, []],
  ["", []],
  [" \t\r\n", []],
  ["a", ["a"]],
  [" a  b\nc ", ["a", "b", "c"]],
])("the variable %j holds the secrets %j", (value, secrets) => {
  expect(secretsOf(catalog.toolkits.get("code_host")!.webhook!, value).map(({ text }) => text)).toEqual(secrets);
});

/** Generates changes that make a text different: a byte is replaced, inserted or removed. */
const mutation = fc.record({ at: fc.nat(), kind: fc.constantFrom("replace", "insert", "remove"), byte: fc.nat(255) });
type Mutation = { at: number; kind: string; byte: number };

function mutate(bytes: Buffer, { at, kind, byte }: Mutation): Buffer {
  const index = bytes.byteLength === 0 ? 0 : at % bytes.byteLength;
  if (kind === "insert" || bytes.byteLength === 0)
    return Buffer.concat([bytes.subarray(0, index), Buffer.from([byte]), bytes.subarray(index)]);
  if (kind === "remove") return Buffer.concat([bytes.subarray(0, index), bytes.subarray(index + 1)]);
  const changed = Buffer.from(bytes);
  changed[index] = changed[index] === byte ? byte ^ 1 : byte;
  return changed;
}

const mutateText = (text: string, change: Mutation) => mutate(Buffer.from(text, "latin1"), change).toString("latin1");
const runs = { numRuns: 2_000 };

test.each([
  ["hex", issue],
  ["base64", payment],
  ["slack_v0", message],
])("a body with any byte changed is refused (%s, 2,000 mutations)", (_scheme, post) => {
  fc.assert(
    fc.property(mutation, (change) => {
      const body = mutate(post.body, change);
      // If a byte is inserted next to an equal one, or one of a pair is removed, the body may be unchanged. Such cases are left out.
      fc.pre(!body.equals(post.body));
      expect(verify(withBody(post, body))).toBe(false);
    }),
    runs,
  );
});

test.each([
  ["hex", issue, code],
  ["base64", payment, pay],
  ["slack_v0", message, slack],
  ["slack_v0's timestamp", message, time],
])("a signature with any byte changed is refused (%s, 2,000 mutations)", (_scheme, post, header) => {
  const right = post.headers[header] as string;
  fc.assert(
    fc.property(mutation, (change) => {
      const wrong = mutateText(right, change);
      // Hex in the other case is the same signature, so such a change is left out.
      fc.pre(wrong !== right && (header === pay || wrong.toLowerCase() !== right.toLowerCase()));
      expect(verify(withHeader(post, header, wrong))).toBe(false);
    }),
    runs,
  );
});

test("a token with any byte changed is refused (2,000 mutations)", () => {
  fc.assert(
    fc.property(mutation, (change) => {
      const token = mutateText("watcher-token", change);
      fc.pre(token !== "watcher-token");
      expect(verify({ ...changePost(), query: new URLSearchParams({ token }) })).toBe(false);
    }),
    runs,
  );
});

test("what an independent signer signs is accepted, whatever the bytes and the secret", () => {
  const secrets = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => !/\s/.test(text));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), secrets, (bytes, secret) => {
      const body = Buffer.from(bytes);
      const hmac = (data: Buffer) => createHmac("sha256", secret).update(data);
      const seconds = String(nowMs / 1000);
      const slackBase = Buffer.concat([Buffer.from(`v0:${seconds}:`), body]);
      expect(verify(withBody(withHeader(issue, code, `sha256=${hmac(body).digest("hex")}`), body), secret)).toBe(true);
      expect(verify(withBody(withHeader(payment, pay, hmac(body).digest("base64")), body), secret)).toBe(true);
      expect(verify(withBody(withHeader(message, slack, `v0=${hmac(slackBase).digest("hex")}`), body), secret)).toBe(
        true,
      );
      expect(verify({ ...change, query: new URLSearchParams({ token: secret }) }, secret)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

/** Returns another spelling of the same 32 bytes. This is possible because the last two bits of 43 base64 digits are unused. */
function setSpareBits(base64: string): string {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const last = digits.indexOf(base64.charAt(42));
  return `${base64.slice(0, 42)}${digits.charAt(last | 1)}=`;
}
