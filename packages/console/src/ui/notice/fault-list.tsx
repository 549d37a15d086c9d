import { pageWords } from "../../words/page-words.ts";
import type { PlacedFault } from "../../words/placed-faults.ts";
import { Icon } from "../icon.tsx";
import styles from "./fault-list.module.css";
import { Notice } from "./notice.tsx";

/** A list of the errors in a text that the user edits. Each error shows its line; pressing it moves the cursor to that line. */
export function FaultList({
  faults,
  onGoTo,
}: {
  faults: readonly PlacedFault[];
  /** Moves the cursor to an offset of the text. */
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

/** Returns the place of a warning in a program for people: `programJson/steps/0/rows` gives `“rows” of step 1`. */
function placeWords(field: string): string {
  const path = field.replace(/^(?:program|definition)Json/, "").replace(/^\/program(?=\/)/, "");
  const [, index, rest = ""] = /^\/steps\/(\d+)(?:\/(.+))?$/.exec(path) ?? [];
  const named = (parts: string) => `“${parts.replaceAll("/", ".")}”`;
  if (index === undefined) return path === "" ? "" : named(path.slice(1));
  const step = `step ${Number(index) + 1}`;
  return rest === "" ? `S${step.slice(1)}` : `${named(rest)} of ${step}`;
}

/** The warnings about a document. Each shows its position in the document and what to do. Draws nothing if there are no warnings. */
export function NoteList({
  notes,
}: {
  notes: readonly {
    readonly field: string;
    readonly reason: string;
    readonly message: string;
    readonly help: string;
  }[];
}) {
  if (notes.length === 0) return null;
  return (
    <Notice tone="warn" title={`${notes.length} ${notes.length === 1 ? "thing" : "things"} to know before it runs`}>
      <ul>
        {notes.map(({ field, reason, message, help }) => (
          <li key={`${field} ${reason} ${message}`}>
            {placeWords(field)} {message}. If that is not meant: {pageWords(help)}.
          </li>
        ))}
      </ul>
    </Notice>
  );
}
