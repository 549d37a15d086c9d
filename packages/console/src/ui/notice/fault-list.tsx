import type { PlacedFault } from "../../words/placed-faults.ts";
import { Icon } from "../icon.tsx";
import styles from "./fault-list.module.css";

/** What is wrong with a text that is being written, each with its line; a press leads there. */
export function FaultList({
  faults,
  onGoTo,
}: {
  faults: readonly PlacedFault[];
  /** Leads to an offset of the text. */
  onGoTo: (offset: number) => void;
}) {
  return (
    <ul className={styles["faults"]}>
      {faults.map(({ id, reason, message, help, line, mark }) => (
        <li key={id}>
          <button type="button" className={styles["fault"]} onClick={() => onGoTo(mark.from)}>
            <span className={styles["sign"]}>
              <Icon name="cross" />
            </span>
            <span>
              <span className={styles["message"]}>
                Line {line}: {message}
              </span>
              {help !== "" && help !== message && <span className={styles["help"]}>{help}</span>}
              <span className={styles["reason"]}>{reason}</span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
