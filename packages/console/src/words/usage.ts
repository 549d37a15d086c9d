import type { QuotaUsage } from "@svc/gen/admin";
import type { Word } from "./word.ts";

const words = {
  full: { word: "full", tone: "bad", icon: "alert", says: "What is over it is refused." },
  near: { word: "near its end", tone: "warn", icon: "alert", says: "Four fifths of it are used." },
  room: { word: "room left", tone: "ok", icon: "check", says: "There is room." },
  open: { word: "no bound", tone: "plain", icon: "dot", says: "It is not bounded." },
} as const satisfies Record<string, Word>;

/** Part of a quota (0 to 1). From this part on, the console shows the quota as nearly used up. */
const nearPart = 0.8;

/** Returns the word, colour and icon for how much of a quota is used. */
export function usageWord({ used, most }: Pick<QuotaUsage, "used" | "most">): Word {
  if (most === -1) return words.open;
  if (used >= most) return words.full;
  return used >= most * nearPart ? words.near : words.room;
}
