import { useSyncExternalStore } from "react";
import { classNames } from "../class-names.ts";
import styles from "./announce.module.css";

/** A short message, shown as a toast and read by screen readers (the one polite live region). */
type Notice = { id: number; text: string; tone: "plain" | "bad" };

const shownMs = 6_000;
let notices: readonly Notice[] = [];
let last = 0;
const listeners = new Set<() => void>();

function change(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

/** Announces that an action succeeded, or that it failed. */
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

/** The messages shown at the moment, oldest first. */
function useNotices(): readonly Notice[] {
  return useSyncExternalStore(subscribe, () => notices);
}

/** The one polite live region of the page, for the messages of `announce`. */
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
