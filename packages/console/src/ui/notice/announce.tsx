import { useSyncExternalStore } from "react";
import { classNames } from "../class-names.ts";
import styles from "./announce.module.css";

/** A short message. The page shows it for a moment, and screen readers read it. */
type Notice = { id: number; text: string; tone: "plain" | "bad" };

const shownMs = 6_000;
let notices: readonly Notice[] = [];
let last = 0;
const listeners = new Set<() => void>();

function change(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

/** Shows a message that an action succeeded or failed, and lets screen readers read it. */
export function announce(text: string, tone: Notice["tone"] = "plain"): void {
  last += 1;
  const notice = { id: last, text, tone };
  change([...notices.slice(-2), notice]);
  setTimeout(() => change(notices.filter(({ id }) => id !== notice.id)), shownMs);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the messages that are shown now, oldest first. */
function useNotices(): readonly Notice[] {
  return useSyncExternalStore(subscribe, () => notices);
}

/**
 * The element with the messages of `announce`. Screen readers read its changes when they are idle (a polite live region). A page has only
 * one such element.
 */
export function LiveRegion() {
  const notices = useNotices();
  return (
    <div className={styles["region"]} role="status" aria-live="polite">
      {notices.map(({ id, text, tone }) => (
        <div key={id} className={classNames(styles["notice"], tone === "bad" && styles["bad"])}>
          {text}
        </div>
      ))}
    </div>
  );
}
