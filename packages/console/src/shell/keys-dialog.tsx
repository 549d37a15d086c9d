import { Fragment } from "react";
import { CheckField } from "../ui/fields/field.tsx";
import { Dialog } from "../ui/overlay/dialog.tsx";
import styles from "./keys-dialog.module.css";
import { pagesOf } from "./pages.ts";
import { setPreferences, usePreferences } from "./preferences.ts";

const listKeys: readonly (readonly [keys: string, does: string])[] = [
  ["Ctrl K, ⌘ K", "go to a page, an id or an action, from anywhere"],
  ["↑ ↓, j k", "the row above or below"],
  ["Enter", "open the page of the row"],
  ["o", "open the row beside the list, or close it"],
  ["c", "copy the id of the row"],
  ["/", "to the filters"],
  ["Esc", "close what is open"],
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
        label="Single letters are shortcuts"
        checked={shortcuts}
        onChange={(on) => setPreferences({ shortcuts: on })}
        hint="Turn them off if you control the page by voice."
      />
    </Dialog>
  );
}
