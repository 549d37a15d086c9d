import { visible } from "../../words/visible.ts";
import { IconButton } from "../buttons/button.tsx";
import { copyText } from "./clipboard.ts";
import styles from "./copy.module.css";

/** A button that copies a text; `what` names it ("id", "address"). */
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

/** The middle of a long id left out: its beginning names the kind, its end tells it from its neighbours. */
export function shortId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`;
}
