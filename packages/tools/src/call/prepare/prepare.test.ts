import { expect, test } from "vitest";
import { missingScopes } from "./prepare.ts";

test("a granted scope covers itself and scopes that extend it with a dot", () => {
  const granted = ["https://x.example/calendar", "files.read"];
  expect(missingScopes(["https://x.example/calendar.events.readonly", "files.read"], granted)).toEqual([]);
  expect(missingScopes(["https://x.example/calendars", "files", "files.readonly"], granted)).toEqual([
    "https://x.example/calendars",
    "files",
    "files.readonly",
  ]);
});

test("nothing is missing where the app named no scopes, or the tool needs none", () => {
  expect(missingScopes(["files"], [])).toEqual([]);
  expect(missingScopes([], ["files"])).toEqual([]);
});
