import * as Ariakit from "@ariakit/react";
import { useRef } from "react";
import { Icon, type IconName } from "../icon.tsx";
import menu from "./menu.module.css";
import styles from "./palette-dialog.module.css";

/** One line of a palette. `group`: the heading above the lines of its group; undefined if the line has no heading. */
export type PaletteLine = { id: string; words: string; note: string; icon: IconName; group?: string };

/**
 * A dialog with a text input and the lines that match the input. The first line is selected at first. If the chosen line opens a page
 * (`leads`), the heading of that page gets the focus. For any other line, the focus returns to the element that had it before.
 */
export function OpenPalette<Line extends PaletteLine>({
  open,
  onClose,
  lines,
  onType,
  onChoose,
  leads,
  hint,
}: {
  open: boolean;
  onClose: () => void;
  lines: readonly Line[];
  onType: (text: string) => void;
  onChoose: (line: Line) => void;
  leads: (line: Line) => boolean;
  /** A sentence below the lines, for example that the search is not finished. Empty if there is none. */
  hint: string;
}) {
  const isLed = useRef(false);
  const item = (line: Line) => (
    <Ariakit.ComboboxItem
      key={line.id}
      className={menu["item"]}
      hideOnClick={false}
      setValueOnClick={false}
      onClick={() => {
        isLed.current = leads(line);
        onClose();
        onChoose(line);
      }}
    >
      <Icon name={line.icon} />
      {line.words}
      <span className={styles["note"]}>{line.note}</span>
    </Ariakit.ComboboxItem>
  );
  return (
    <Ariakit.Dialog
      open={open}
      onClose={onClose}
      unmountOnHide
      autoFocusOnHide={() => {
        if (!isLed.current) return true;
        isLed.current = false;
        // Gives the focus to the heading of the page that is shown now. If the page is still loading, it does this itself when it appears.
        document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
        return false;
      }}
      aria-label="Go to"
      backdrop={<div className={styles["backdrop"]} />}
      className={styles["palette"]}
    >
      <Ariakit.ComboboxProvider open setValue={onType}>
        <Ariakit.Combobox
          autoSelect="always"
          aria-label="Search or go to a page"
          placeholder="Search, or go to a page"
          className={styles["input"]}
        />
        <Ariakit.ComboboxList alwaysVisible aria-label="Found" className={styles["list"]}>
          {[...Map.groupBy(lines, ({ group }) => group)].map(([group, own]) =>
            group === undefined ? (
              own.map(item)
            ) : (
              // biome-ignore lint/a11y/useSemanticElements: a list of options has groups of options, and a fieldset is none
              <div key={group} role="group" aria-label={group}>
                <div className={styles["group"]} aria-hidden="true">
                  {group}
                </div>
                {own.map(item)}
              </div>
            ),
          )}
        </Ariakit.ComboboxList>
        <div role="status" className={styles["hint"]}>
          {hint}
        </div>
      </Ariakit.ComboboxProvider>
    </Ariakit.Dialog>
  );
}
