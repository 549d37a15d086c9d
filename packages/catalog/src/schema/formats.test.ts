import { expect, test } from "vitest";
import { isKnownFormat } from "./formats.ts";
import { createTenantValidators } from "./json-schema.ts";

const accepts = (format: string, text: string) =>
  createTenantValidators()({ type: "string", format })(text).length === 0;

test.each([
  ["uri", "https://example.com/a?b=c#d", true],
  ["uri", "mailto:ana@example.com", true],
  ["uri", "example.com", false],
  ["url", "https://example.com/a b", false],
  ["url", "https://example.com/a?b=c", true],
  ["url", "https:///example.com", false],
  ["url", "javascript:alert(1)", false],
  ["email", "ana@example.com", true],
  ["email", "ana", false],
  ["date", "2026-02-29", false],
  ["date-time", "2026-02-28T10:00:00Z", true],
  ["date-time", "2026-02-28", false],
  ["date-time", "2026-02-30T10:00:00Z", false],
  ["date-time", "2026-02-28T24:00:00Z", false],
  ["date-time", "2026-02-28 10:00:00Z", false],
  ["date-time", "2026-02-28T10:00:00", false],
  ["uuid", "01234567-89ab-cdef-0123-456789abcdef", true],
  ["hostname", "api.example.com", true],
  ["byte", "YWJj", true],
  ["byte", "YWJ", false],
  ["regex", "[", false],
  ["binary", "\u0000 anything", true],
])("%s takes %j: %s", (format, text, expected) => {
  expect(isKnownFormat(format)).toBe(true);
  expect(accepts(format, text)).toBe(expected);
});

test("no text makes a format take long", () => {
  const formats =
    `date time date-time iso-time iso-date-time duration uuid ipv4 ipv6 email hostname regex uri uri-reference
    uri-template url byte json-pointer json-pointer-uri-fragment relative-json-pointer`.split(/\s+/);
  const before = process.cpuUsage();
  const starts = ["", "http://", "http://a:", "a@", "#", "/", "{", "P", "2026-01-01T00:00:00."];
  const units = ["a", "a-", "a.", "a:", "1", "1.", "/", "a/", "%41", "@", "~0", "{a", "a,", "("];
  for (const format of formats) {
    const validate = createTenantValidators()({ type: "string", format });
    for (const start of starts) {
      for (const unit of units) validate(`${start}${unit.repeat(65_000 / unit.length - 20)}\n`);
    }
  }
  // Limits the CPU time for checking 2,520 texts of 65,000 characters. With the expression that ajv-formats has for `url`, one text of
  // 40,000 characters took 2.3 s.
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(15_000);
});

test("a name of no format is unknown, whatever objects have", () => {
  for (const name of ["", "toString", "__proto__", "phone"]) expect(isKnownFormat(name)).toBe(false);
});
