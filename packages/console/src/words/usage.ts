import type { QuotaUsage } from "@svc/gen/admin";
import type { Word } from "./word.ts";

const words = {
  full: { word: "full", label: "Used up", tone: "bad", icon: "alert", says: "Requests over the quota are refused." },
  near: {
    word: "near",
    label: "Almost used up",
    tone: "warn",
    icon: "alert",
    says: "More than 80 % of the quota is used.",
  },
  room: { word: "room", label: "OK", tone: "ok", icon: "check", says: "Less than 80 % of the quota is used." },
  open: { word: "open", label: "No limit", tone: "plain", icon: "dot", says: "There is no limit." },
} as const satisfies Record<string, Word>;

/** Part of a quota (0 to 1). From this part on, the console shows the quota as nearly used up. */
const nearPart = 0.8;

/** Returns the word, colour and icon for how much of a quota is used. */
export function usageWord({ used, most }: Pick<QuotaUsage, "used" | "most">): Word {
  if (most === -1) return words.open;
  if (used >= most) return words.full;
  return used >= most * nearPart ? words.near : words.room;
}
