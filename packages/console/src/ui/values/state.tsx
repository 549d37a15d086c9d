import type { Word } from "../../words/word.ts";
import { classNames } from "../class-names.ts";
import { Icon } from "../icon.tsx";
import styles from "./state.module.css";

/** A state as an icon and a word. The tooltip explains the state. */
export function State({ word }: { word: Word }) {
  const { tone, icon, says } = word;
  return (
    <span className={classNames(styles["state"], tone !== "plain" && styles[tone])} title={says}>
      <Icon name={icon} size={12} />
      {word.word}
    </span>
  );
}
