import * as Ariakit from "@ariakit/react";
import { Icon, type IconName } from "./icon.tsx";
import menu from "./menu.module.css";
import styles from "./palette-dialog.module.css";

/** One line of a palette. */
export type PaletteLine = { id: string; words: string; note: string; icon: IconName };

/** A dialog to type into, and what is found for what was typed; the first line is chosen until another is. */
export function PaletteDialog<Line extends PaletteLine>({
  open,
  onClose,
  lines,
  onType,
  onChoose,
}: {
  open: boolean;
  onClose: () => void;
  lines: readonly Line[];
  onType: (text: string) => void;
  onChoose: (line: Line) => void;
}) {
  return (
    <Ariakit.Dialog
      open={open}
      onClose={onClose}
      unmountOnHide
      aria-label="Go to"
      backdrop={<div className={styles["backdrop"]} />}
      className={styles["palette"]}
    >
      <Ariakit.ComboboxProvider open setValue={onType}>
        <Ariakit.Combobox
          autoSelect="always"
          aria-label="Go to a page, an id or an action"
          placeholder="A page, an id, an action"
          className={styles["input"]}
        />
        <Ariakit.ComboboxList alwaysVisible aria-label="Found" className={styles["list"]}>
          {lines.map((line) => (
            <Ariakit.ComboboxItem
              key={line.id}
              className={menu["item"]}
              hideOnClick={false}
              setValueOnClick={false}
              onClick={() => {
                onClose();
                onChoose(line);
              }}
            >
              <Icon name={line.icon} />
              {line.words}
              <span className={styles["note"]}>{line.note}</span>
            </Ariakit.ComboboxItem>
          ))}
        </Ariakit.ComboboxList>
        {lines.length === 0 && <div className={styles["none"]}>Nothing is called so. An id is pasted whole.</div>}
      </Ariakit.ComboboxProvider>
    </Ariakit.Dialog>
  );
}
