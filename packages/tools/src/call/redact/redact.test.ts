import fc from "fast-check";
import { expect, test } from "vitest";
import { atOnce, createRedactor, credentialsOf, type Redactor } from "./redact.ts";
import { redactTexts } from "./redact-texts.ts";

const request = {
  method: "GET",
  url: "https://a.example/x?q=1",
  headers: { accept: "application/json" },
  body: undefined,
};

const isSpared = ({ spares }: Redactor, json: string) => spares && atOnce(spares(json));

test("secrets are removed in plain form, in JSON and in URLs; the longest first", () => {
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
  const [before, after] = ["{{credential.key}}", "a%20b"].map((key) => `https://app.example.com/${key}/me?page=1`);
  expect(credentialsOf({ ...request, url: `${before}` }, { ...request, url: `${after}` })).toEqual(["a%20b", "a b"]);
});

test("a secret is found in every way that URLs, forms and HTML write it", () => {
  const redact = createRedactor(["sk/live+a b&c"]);
  for (const form of ["sk%2flive%2ba%20b%26c", "sk%2Flive%2Ba+b%26c", "sk/live+a b&amp;c"]) {
    expect(redact(`key ${form}.`)).toBe("key ***.");
  }
});

/** Escape functions of writers in other languages. They differ in the characters that they escape, some without need. */
const written: Readonly<Record<string, (text: string) => string>> = {
  "JSON of PHP": (text) => JSON.stringify(text).slice(1, -1).replaceAll("/", "\\/"),
  "JSON of Go": (text) => escapeUnits(JSON.stringify(text).slice(1, -1), /[<>&]/g),
  "JSON of .NET": (text) =>
    escapeUnits(text, /[^\w ./:;,=*()-]/g).replaceAll(/(?<=\\u)[0-9a-f]{4}/g, (hex) => hex.toUpperCase()),
  "JSON in JSON": (text) => JSON.stringify(JSON.stringify(text)),
  "a URL of Java": (text) => strictly(text).replaceAll("%20", "+").replaceAll("%2A", "*").replaceAll("~", "%7E"),
  "a URL of Python": (text) => strictly(text).replaceAll("%2F", "/"),
  "a whole URL": (text) => encodeURI(text),
  "a URL in a URL": (text) => encodeURIComponent(encodeURIComponent(text)),
  "HTML by numbers": (text) => text.replaceAll(/[^\w .-]/gu, (letter) => `&#${letter.codePointAt(0)};`),
  "HTML of a template": (text) =>
    text.replaceAll(/[&<>"'`=/]/g, (sign) => `&#x${sign.charCodeAt(0).toString(16).toUpperCase()};`),
};

function escapeUnits(text: string, which: RegExp): string {
  return text.replaceAll(which, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function strictly(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

const odd = "sk/live~a b&c<'é=\"\\\u{1f511}!*";

test.each(Object.entries(written))("a secret is found as it is written in %s", (_way, write) => {
  const redact = createRedactor([odd]);
  const form = write(odd);
  expect(form).not.toBe(odd);
  expect(redact(`key: ${form}; rest`)).toBe(
    `key: ${form.startsWith('"') ? form.replace(/[^"\\].*[^"\\]/u, "***") : "***"}; rest`,
  );
  expect(isSpared(redact, JSON.stringify({ a: form }))).toBe(false);
});

test("a secret is found in base64 and base64url, with any text before and after it", () => {
  for (const secret of ["planted-token-1", "~~~???>>>~~~", odd]) {
    const redact = createRedactor([secret]);
    for (const before of ["", "u", "us", "use"]) {
      for (const behind of ["", ":", ":p", ":pw"]) {
        for (const encoding of ["base64", "base64url"] as const) {
          const form = Buffer.from(`${before}${secret}${behind}`).toString(encoding);
          const shown = redact(`Basic ${form} end`);
          expect(shown).toMatch(/^Basic .{0,4}\*{3}.{0,6} end$/);
          // None of the remaining base64 characters contains a bit of the secret.
          const [first = "", last = ""] = shown.slice(6, -4).split("***");
          expect(first.length * 6).toBeLessThanOrEqual(before.length * 8);
          expect(last.replaceAll("=", "").length).toBeLessThanOrEqual(Math.ceil((behind.length * 8) / 6));
          expect(isSpared(redact, JSON.stringify([form]))).toBe(false);
          expect(redact(`?q=${encodeURIComponent(form)}&r`)).toMatch(/^\?q=.{0,4}\*{3}.{0,10}&r$/);
        }
      }
    }
  }
});

test("short secrets are not searched in base64 or in field names; longer ones are", () => {
  const redact = createRedactor(["name", "planted-token-1"]);
  const encoded = Buffer.from("name").toString("base64");
  expect(redactTexts({ [encoded]: encoded, first_name: "my name", "x planted-token-1": 1 }, redact)).toEqual({
    [encoded]: encoded,
    first_name: "my ***",
    "x ***": 1,
  });
});

test("a text with a part of a secret and too many escapes is hidden whole, and the budget is used once", () => {
  const redact = createRedactor([odd]);
  const many = "%41".repeat(150_000);
  expect(redact(many)).toBe(many);
  // Only the parts of a long text that may contain the secret are searched.
  expect(redact(`${many}live`)).toBe(`${many}live`);
  expect(redact(`${"%41".repeat(5_000)}live`.repeat(30))).toContain("live");
  expect(redact(`${"%41".repeat(5_000)}live`.repeat(30))).toBe("***");
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
        // The letters that remain are partly determined by the neighboring bytes.
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
        expect(isSpared(redact, JSON.stringify(value))).toBe(false);
      }
    }
  }
  const redact = createRedactor(["sk/live+a b&c", "Bearer tok-1"]);
  expect(isSpared(redact, JSON.stringify({ id: "t1", text: "live long" }))).toBe(false);
  expect(isSpared(redact, JSON.stringify({ id: "t1", text: "a plain text" }))).toBe(true);
  // A secret without plain letters must be searched for. A secret that is too short is not searched for.
  expect(isSpared(createRedactor(["\u00e9\u00e8\u00ea"]), "{}")).toBe(false);
  expect(isSpared(createRedactor(["ab"]), '"ab"')).toBe(true);
});

test("spared values are not searched, and others are redacted at any depth", () => {
  const redact = createRedactor(["Bearer tok-1"]);
  const clean = { a: ["one", { b: "two" }] };
  expect(redactTexts(clean, redact)).toBe(clean);
  expect(redactTexts({ a: ["Bearer tok-1", { b: "x Bearer%20tok-1" }] }, redact)).toEqual({
    a: ["***", { b: "x ***" }],
  });
});
