import { visible } from "../../words/text.ts";
import { IconButton } from "../buttons/button.tsx";
import { announce } from "../notice/announce.tsx";
import styles from "./copy.module.css";

/**
 * Copies a text to the clipboard and announces it. Pages without https have no access to the clipboard, so there the function copies with a
 * text selection.
 */
export async function copyText(text: string, what: string): Promise<void> {
  const copied = await write(text);
  announce(copied ? `Copied ${what}.` : `The browser did not allow copying ${what}.`, copied ? "plain" : "bad");
}

async function write(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard === undefined) return copyBySelection(text);
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  // Adds the text area inside the open dialog, if there is one, because a dialog takes the focus away from elements outside of it.
  (document.activeElement?.parentElement ?? document.body).append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}

/** A button that copies a text. `what`: names the text (for example "id" or "address"). */
export function CopyButton({ text, what }: { text: string; what: string }) {
  return <IconButton icon="copy" label={`Copy ${what}`} onPress={() => void copyText(text, what)} />;
}

/** An id or an address with a button that copies it. */
export function Copyable({ text, what }: { text: string; what: string }) {
  return (
    <span className={styles["id"]}>
      <span className={styles["whole"]}>{visible(text)}</span>
      <CopyButton text={text} what={what} />
    </span>
  );
}

/** A command or a snippet with a button that copies it. */
export function CodeBlock({ text, what = "command" }: { text: string; what?: string }) {
  return (
    <div className={styles["block"]}>
      <pre className={styles["code"]}>{visible(text)}</pre>
      <div className={styles["button"]}>
        <CopyButton text={text} what={what} />
      </div>
    </div>
  );
}

/** Returns a long id in a short form. Keeps the start, which shows the kind of the id, and the end, which differs between ids. */
export function shortId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}
