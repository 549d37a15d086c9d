import type { IconName } from "../ui/icon.tsx";

/** How a state looks: what it means for whoever watches, never by its colour alone. */
export type Tone = "ok" | "warn" | "bad" | "info" | "plain";

/** How a word of the API is shown: the word itself, a sign, and a sentence for whoever meets it first. */
export type Word = { word: string; tone: Tone; icon: IconName; says: string };

/** A word that this version does not know, from a newer service: shown as it is. */
export function unknownWord(word: string): Word {
  return {
    word: word === "" ? "unknown" : word,
    tone: "plain",
    icon: "dot",
    says: "This page does not know this state. Reload it.",
  };
}
