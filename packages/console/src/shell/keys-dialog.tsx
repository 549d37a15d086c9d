import { Link } from "@tanstack/react-router";
import { Fragment } from "react";
import { CheckField } from "../ui/fields/field.tsx";
import { Dialog } from "../ui/overlay/dialog.tsx";
import styles from "./keys-dialog.module.css";
import { pagesOf } from "./pages.ts";
import { setPreferences, usePreferences } from "./preferences.ts";

const listKeys: readonly (readonly [keys: string, does: string])[] = [
  ["Ctrl K, ⌘ K", "search for a page, an id or an action"],
  ["↑ ↓, j k", "previous or next row"],
  ["Enter", "open the page of the row"],
  ["o", "open or close the preview of the row"],
  ["c", "copy the id of the row"],
  ["/", "go to the filters"],
  ["Esc", "close"],
  ["?", "these keys"],
];

/** Draws the dialog with the keyboard shortcuts, and the switch that turns single-letter shortcuts on or off. */
export function KeysDialog({ open, onClose, projectId }: { open: boolean; onClose: () => void; projectId: string }) {
  const { shortcuts } = usePreferences();
  const pages = pagesOf(projectId).map(({ letter, title }) => [`g ${letter}`, `to ${title}`] as const);
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard shortcuts">
      <dl className={styles["keys"]}>
        {[...listKeys, ...pages].map(([keys, does]) => (
          <Fragment key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </Fragment>
        ))}
      </dl>
      <CheckField
        label="Single-key shortcuts"
        checked={shortcuts}
        onChange={(on) => setPreferences({ shortcuts: on })}
        hint="Turn off if you use voice control."
      />
      {projectId !== "admin" && (
        <p>
          <Link to="/p/$projectId/home" params={{ projectId }} search={{ view: "start" }} onClick={onClose}>
            First steps
          </Link>
        </p>
      )}
    </Dialog>
  );
}
