import type { IconName } from "../ui/icon.tsx";

/**
 * The meaning of a state for the user, such as good or bad. It determines the colour, but an icon or a word always shows the meaning too.
 */
export type Tone = "ok" | "warn" | "bad" | "info" | "plain";

/**
 * How the page shows a word of the API: the word itself, a tone (colour), an icon, and a sentence that explains it (`says`). `label`: the
 * text that the page shows in place of the word. If it is absent, the word itself is shown.
 */
export type Word = { word: string; label?: string; tone: Tone; icon: IconName; says: string };

/** Returns the text that the page shows for a word of the API: its label, or the word itself. */
export function labelOf({ word, label }: Pick<Word, "word" | "label">): string {
  return label ?? word;
}

/**
 * Returns how the page shows a word of the API that this console does not know, because the service is newer: the word itself, without a
 * colour of its own.
 */
export function unknownWord(word: string): Word {
  return {
    word: word === "" ? "unknown" : word,
    tone: "plain",
    icon: "dot",
    says: "This page does not know this state. Reload it.",
  };
}
