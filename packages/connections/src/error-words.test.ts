import fc from "fast-check";
import { expect, test } from "vitest";
import { errorWords } from "./error-words.ts";

const itself = "an error it names itself";
const secret = "4/0AdQt8qh-planted-code_of.an-exchange";

test("a code is quoted, those of RFC 6749 whatever the secrets are", () => {
  expect(errorWords("invalid_grant", [secret])).toBe('"invalid_grant"');
  expect(errorWords("invalid_grant", ["invalid_grant", "a"])).toBe('"invalid_grant"');
  expect(errorWords("consent.required-v2", [secret, ""])).toBe('"consent.required-v2"');
});

test("what has not the form of a code is not quoted", () => {
  for (const error of ["", "two words", "a\u0000b", "<script>", "ü", "x".repeat(65), '"']) {
    expect(errorWords(error, [])).toBe(itself);
  }
});

test("what holds a secret, or a part of one, is not quoted", () => {
  expect(errorWords(`no_${secret.slice(2)}`, [secret])).toBe(itself);
  expect(errorWords("bad_abc_code", ["abc"])).toBe(itself);
  expect(errorWords(secret.slice(10, 20), ["other", secret])).toBe(itself);
  const long = "t".repeat(40) + secret.slice(2) + "u".repeat(4_000);
  expect(errorWords(long.slice(0, 64), [long])).toBe(itself);
});

test("eight characters of a secret in a row never get through", () => {
  const characters = fc.stringMatching(/^[A-Za-z0-9_.-]{8,60}$/);
  fc.assert(
    fc.property(characters, fc.nat(52), fc.stringMatching(/^[A-Za-z]{0,4}$/), (token, from, before) => {
      const part = token.slice(Math.min(from, token.length - 8)).slice(0, 40);
      expect(errorWords(`${before}${part}`, [token])).toBe(itself);
    }),
  );
});
