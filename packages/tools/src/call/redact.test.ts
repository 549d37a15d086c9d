import fc from "fast-check";
import { expect, test } from "vitest";
import { createRedactor, credentialsOf, redactTexts } from "./redact.ts";

const request = {
  method: "GET",
  url: "https://a.example/x?q=1",
  headers: { accept: "application/json" },
  body: undefined,
};

test("secrets are taken out as they are, in JSON and in URLs; the longest first", () => {
  const redact = createRedactor(['pa"ss', "pa", "abc", "abcdef", "a b"]);
  expect(redact('said pa"ss, {"p":"pa\\"ss"}, ?p=pa%22ss&q=a%20b, abcdef abc pa')).toBe(
    'said ***, {"p":"***"}, ?p=***&q=***, *** *** pa',
  );
});

test("a credential is what authorizing added, in every form an app may quote", () => {
  const basic = Buffer.from("user:pass:word").toString("base64");
  const authorized = {
    ...request,
    url: `${request.url}&key=k%20ey`,
    headers: { ...request.headers, Authorization: `Basic ${basic}`, "X-Key": "plain", Other: "Bearer tok" },
  };
  expect(credentialsOf(request, authorized)).toEqual([
    `Basic ${basic}`,
    basic,
    "user:pass:word",
    "pass:word",
    "plain",
    "Bearer tok",
    "tok",
    "k ey",
  ]);
  expect(credentialsOf(request, request)).toEqual([]);
});

test("a secret is found in every way that URLs, forms and HTML write it", () => {
  const redact = createRedactor(["sk/live+a b&c"]);
  for (const form of ["sk%2flive%2ba%20b%26c", "sk%2Flive%2Ba+b%26c", "sk/live+a b&amp;c"]) {
    expect(redact(`key ${form}.`)).toBe("key ***.");
  }
});

test("a secret is found in hex, and in base64 wherever it begins", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme", minLength: 8, maxLength: 60 }),
      fc.string({ maxLength: 9 }),
      fc.string({ maxLength: 9 }),
      fc.constantFrom<BufferEncoding>("base64", "base64url", "hex"),
      (secret, before, behind, encoding) => {
        const redact = createRedactor([secret]);
        const quoted = { said: Buffer.from(`${before}${secret}${behind}`).toString(encoding) };
        const { said } = redactTexts(quoted, redact) as typeof quoted;
        expect(said).toContain("***");
        // What is left of it are letters of which its neighbours decide a part.
        const least = Buffer.byteLength(before + behind);
        expect(said.replaceAll("***", "").length).toBeLessThanOrEqual((encoding === "hex" ? 2 : 4 / 3) * least + 6);
      },
    ),
  );
  const redact = createRedactor(["Bearer tok-1"]);
  expect(redact(Buffer.from("BEARER").toString("base64"))).toBe("QkVBUkVS");
  expect(redact(Buffer.from("Bearer tok-1").toString("hex").toUpperCase())).toBe("***");
});

test("texts of a result are redacted at any depth, and a result without secrets is the same value", () => {
  const redact = createRedactor(["secret-key"]);
  const clean = { a: [1, "x", null, { b: "plain" }] };
  expect(redactTexts(clean, redact)).toBe(clean);
  expect(redactTexts({ a: ["Bearer secret-key", { b: 2 }] }, redact)).toEqual({ a: ["Bearer ***", { b: 2 }] });
});

test("a text without any form of a secret is spared, and one with some form never is", () => {
  const secrets = ["sk/live+a b&c", "Bearer tok-1", 'q"uo\\te', "\u00e9\u00e8\u00ea", "ab"];
  for (const secret of secrets.slice(0, 4)) {
    const redact = createRedactor([secret]);
    const inUrl = encodeURIComponent(secret);
    const forms = [
      secret,
      JSON.stringify(secret),
      inUrl,
      inUrl.toLowerCase(),
      inUrl.replaceAll("%20", "+"),
      `<${secret}>`,
    ];
    for (const form of forms.filter((text) => redact(text) !== text)) {
      for (const value of [form, { [form]: 1 }, [`"\n${form}\u0000`, JSON.stringify({ a: form })]]) {
        expect(redact.spares?.(JSON.stringify(value))).toBe(false);
      }
    }
  }
  const redact = createRedactor(["sk/live+a b&c", "Bearer tok-1"]);
  expect(redact.spares?.(JSON.stringify({ id: "t1", text: "live long" }))).toBe(false);
  expect(redact.spares?.(JSON.stringify({ id: "t1", text: "a plain text" }))).toBe(true);
  // What cannot be told by its letters is gone through, and what is too short to be a secret is not.
  expect(createRedactor(["\u00e9\u00e8\u00ea"]).spares?.("{}")).toBe(false);
  expect(createRedactor(["ab"]).spares?.('"ab"')).toBe(true);
});

test("what is spared is not even looked at, and what is not is redacted at any depth", () => {
  const redact = createRedactor(["Bearer tok-1"]);
  const clean = { a: ["one", { b: "two" }] };
  expect(redactTexts(clean, redact)).toBe(clean);
  expect(redactTexts({ a: ["Bearer tok-1", { b: "x Bearer%20tok-1" }] }, redact)).toEqual({
    a: ["***", { b: "x ***" }],
  });
});
