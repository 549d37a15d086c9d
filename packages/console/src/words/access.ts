import { unknownWord, type Word } from "./word.ts";

const words: Record<"read" | "write" | "destructive", Word> = {
  read: { word: "read", tone: "plain", icon: "search", says: "It changes nothing in the app." },
  write: { word: "write", tone: "warn", icon: "send", says: "It changes something in the app." },
  destructive: { word: "destructive", tone: "bad", icon: "alert", says: "What it does may not be taken back." },
};

/** How the access class of a tool is shown. */
export function accessWord(accessClass: string): Word {
  return (words as Record<string, Word>)[accessClass] ?? unknownWord(accessClass);
}
