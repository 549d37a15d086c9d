import type { IconName } from "../ui/icon.tsx";

/** The look of a state: its meaning for the user, never shown by colour alone. */
export type Tone = "ok" | "warn" | "bad" | "info" | "plain";

/** How a word of the API is shown: the word itself, an icon, and a sentence that explains it. */
export type Word = { word: string; tone: Tone; icon: IconName; says: string };

/** Returns an unknown word of a newer service unchanged. */
export function unknownWord(word: string): Word {
  return {
    word: word === "" ? "unknown" : word,
    tone: "plain",
    icon: "dot",
    says: "This page does not know this state. Reload it.",
  };
}
