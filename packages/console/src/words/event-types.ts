import type { EventType } from "@svc/gen/triggers";
import type { Word } from "./word.ts";

const words: Readonly<Record<"active" | "archived", Word>> = {
  active: { word: "active", tone: "ok", icon: "check", says: "It accepts new events." },
  archived: {
    word: "archived",
    tone: "plain",
    icon: "pause",
    says: "It refuses new events. Stored events can still be read, delivered and replayed.",
  },
};

/** Returns the word, colour and icon for the state of an event type. */
export function eventTypeWord({ archived }: Pick<EventType, "archived">): Word {
  return archived ? words.archived : words.active;
}
