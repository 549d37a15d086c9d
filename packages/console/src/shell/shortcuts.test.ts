import { expect, test } from "vitest";
import { shortcutOf } from "./shortcuts.ts";

const plain = { ctrlKey: false, metaKey: false, altKey: false };
const inList = { inList: true, letters: true, afterG: false };

test("Ctrl K and ⌘ K open the palette anywhere", () => {
  const anywhere = { inList: false, letters: false, afterG: false };
  expect(shortcutOf({ ...plain, key: "k", ctrlKey: true }, anywhere)).toBe("palette");
  expect(shortcutOf({ ...plain, key: "K", metaKey: true }, anywhere)).toBe("palette");
});

test("single letters work in a focused list alone, and not where they are turned off", () => {
  expect(shortcutOf({ ...plain, key: "/" }, inList)).toBe("filter");
  expect(shortcutOf({ ...plain, key: "e" }, { ...inList, afterG: true })).toEqual({ to: "/p/$projectId/events" });
  expect(shortcutOf({ ...plain, key: "/" }, { ...inList, inList: false })).toBeUndefined();
  expect(shortcutOf({ ...plain, key: "?" }, { ...inList, letters: false })).toBeUndefined();
});
