import { expect, test } from "vitest";
import { scopeWords, visible } from "./text.ts";

test.each([
  ["{scope_base}/calendar.events", "calendar.events"],
  ["https://scopes.example.com/calendar", "https://scopes.example.com/calendar"],
  ["repo", "repo"],
])("%s is told as %s", (scope, words) => {
  expect(scopeWords(scope)).toBe(words);
});

test.each([
  ["Pay \u202e0001\u202c EUR", "Pay ⟨U+202E⟩0001⟨U+202C⟩ EUR"],
  ["@team\u200b", "@team⟨U+200B⟩"],
  ["a\u2066b\u2069c\ufeff\u00ad\u061c\u200e", "a⟨U+2066⟩b⟨U+2069⟩c⟨U+FEFF⟩⟨U+00AD⟩⟨U+061C⟩⟨U+200E⟩"],
  ["tag \u{e0041}", "tag ⟨U+E0041⟩"],
  ["line\u2028break\u0007", "line⟨U+2028⟩break⟨U+0007⟩"],
])("%j shows what nobody sees", (text, shown) => {
  expect(visible(text)).toBe(shown);
});

test.each(["plain", "tab\tand\r\nlines\n", "می‌خواهم", "👩‍👩‍👧 ❤️", "שלום", "naïve – “quoted” … 漢字 é"])(
  "%j stays as it is",
  (text) => {
    expect(visible(text)).toBe(text);
  },
);
