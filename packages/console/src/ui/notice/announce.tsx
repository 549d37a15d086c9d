import { useSyncExternalStore } from "react";
import { classNames } from "../class-names.ts";
import styles from "./announce.module.css";

/** A short word to whoever looks (a toast) and listens (the one polite live region). */
type Notice = { id: number; text: string; tone: "plain" | "bad" };

const shownMs = 6_000;
let notices: readonly Notice[] = [];
let last = 0;
const listeners = new Set<() => void>();

function change(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}

/** Says that something was done, or that it was not. */
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

/** What is shown at the moment, the oldest first. */
function useNotices(): readonly Notice[] {
  return useSyncExternalStore(subscribe, () => notices);
}

/** The one polite live region of the page: what `announce` says. */
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
