import { labelOf, type Word } from "../../words/word.ts";
import { classNames } from "../class-names.ts";
import { Icon } from "../icon.tsx";
import styles from "./state.module.css";

/** Draws a state as an icon and a word. The tooltip explains the state, and names the word that the API uses for it. */
export function State({ word }: { word: Word }) {
  const { tone, icon, says, label } = word;
  return (
    <span
      className={classNames(styles["state"], tone !== "plain" && styles[tone])}
      title={label === undefined ? says : `${says} (${labelOf(word)})`}
    >
      <Icon name={icon} size={12} />
      {labelOf(word)}
    </span>
  );
}
