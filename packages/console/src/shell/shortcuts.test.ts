import { expect, test } from "vitest";
import { pagesOf } from "./pages.ts";
import { shortcutOf } from "./shortcuts.ts";

const plain = { ctrlKey: false, metaKey: false, altKey: false };
const pages = pagesOf("prj_1");
const onPage = { isTyping: false, letters: true, afterG: false, pages };

test("Ctrl K and ⌘ K open the palette anywhere", () => {
  const anywhere = { isTyping: true, letters: false, afterG: false, pages };
  expect(shortcutOf({ ...plain, key: "k", ctrlKey: true }, anywhere)).toBe("palette");
  expect(shortcutOf({ ...plain, key: "K", metaKey: true }, anywhere)).toBe("palette");
});

test("single letters work on the whole page, but not where text is typed and not if they are turned off", () => {
  expect(shortcutOf({ ...plain, key: "/" }, onPage)).toBe("filter");
  expect(shortcutOf({ ...plain, key: "e" }, { ...onPage, afterG: true })).toEqual({ to: "/p/$projectId/events" });
  expect(shortcutOf({ ...plain, key: "/" }, { ...onPage, isTyping: true })).toBeUndefined();
  expect(shortcutOf({ ...plain, key: "?" }, { ...onPage, letters: false })).toBeUndefined();
});

test("the administration's letters lead to its pages alone", () => {
  const admin = { ...onPage, afterG: true, pages: pagesOf("admin") };
  expect(shortcutOf({ ...plain, key: "q" }, admin)).toEqual({ to: "/admin/quarantine" });
  expect(shortcutOf({ ...plain, key: "e" }, admin)).toBeUndefined();
});
