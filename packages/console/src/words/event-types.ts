import type { EventType } from "@svc/gen/triggers";
import type { Word } from "./word.ts";

const words: Readonly<Record<"active" | "archived", Word>> = {
  active: { word: "active", label: "Active", tone: "ok", icon: "check", says: "New events of this type are accepted." },
  archived: {
    word: "archived",
    label: "Archived",
    tone: "plain",
    icon: "pause",
    says: "New events of this type are refused. Stored events can still be read, delivered and resent.",
  },
};

/** Returns the word, colour and icon for the state of an event type. */
export function eventTypeWord({ archived }: Pick<EventType, "archived">): Word {
  return archived ? words.archived : words.active;
}
