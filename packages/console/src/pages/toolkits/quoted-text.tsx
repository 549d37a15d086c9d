import { classNames } from "../../ui/class-names.ts";
import { State } from "../../ui/values/state.tsx";
import { deceiving, visible } from "../../words/text.ts";
import { changeWords } from "../../words/toolkits.ts";
import styles from "./quoted-text.module.css";

/**
 * Draws a text that an untrusted source wrote, as plain text. Each invisible character is shown as its code, such as `⟨U+200B⟩`, in a
 * colour of its own.
 */
export function QuotedText({ text }: { text: string }) {
  const characters = [...text.matchAll(deceiving)];
  const plain = text.split(deceiving);
  return (
    <p className={classNames(styles["quote"], /^[[{"]/.test(text) && styles["code"])} dir="auto">
      {plain.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text have no other identity
        <span key={index}>
          {part}
          {characters[index] !== undefined && <mark className={styles["hidden"]}>{visible(characters[index][0])}</mark>}
        </span>
      ))}
    </p>
  );
}

/**
 * Draws a text of a tool or toolkit before and after a change, side by side; on a phone one below the other. Invisible characters are shown
 * as codes. `isBreaking`: true if the change may break calls.
 */
export function Sides({
  title,
  before,
  after,
  isBreaking = false,
}: {
  title: string;
  before: string;
  after: string;
  isBreaking?: boolean;
}) {
  return (
    <div className={styles["part"]}>
      <div className={styles["title"]}>
        <code>{visible(title)}</code>
        {isBreaking && <State word={changeWords.breaking} />}
      </div>
      <div className={styles["sides"]}>
        <Side title="Before" text={before} />
        <Side title="After" text={after} />
      </div>
    </div>
  );
}

function Side({ title, text }: { title: string; text: string }) {
  return (
    <div className={styles["side"]}>
      <span>{title}</span>
      {text === "" ? <p className={styles["none"]}>none</p> : <QuotedText text={text} />}
    </div>
  );
}
