import * as Ariakit from "@ariakit/react";
import type { ReactNode } from "react";
import { buttonClass } from "../buttons/plain-button.tsx";
import { Icon, type IconName } from "../icon.tsx";
import styles from "./menu.module.css";

/**
 * One entry of a menu. `checked`: set if the menu chooses one of several options; true for the chosen option. `note`: shown below the
 * entry's words.
 */
export type MenuEntry = {
  id: string;
  words: string;
  note?: string;
  icon?: IconName;
  checked?: boolean;
  onPress: () => void;
};

/** A button with a menu of actions or choices. */
export function Menu({
  label,
  children,
  entries,
  kind = "quiet",
}: {
  label: string;
  children: ReactNode;
  entries: readonly MenuEntry[];
  kind?: "plain" | "quiet";
}) {
  return (
    <Ariakit.MenuProvider>
      <Ariakit.MenuButton className={buttonClass(kind)} aria-label={label}>
        {children}
      </Ariakit.MenuButton>
      <Ariakit.Menu className={styles["menu"]} gutter={4} unmountOnHide portal aria-label={label}>
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </Ariakit.Menu>
    </Ariakit.MenuProvider>
  );
}

function Entry({ entry: { words, note, icon, checked, onPress } }: { entry: MenuEntry }) {
  const text = (
    <span>
      {words}
      {note !== undefined && <span className={styles["note"]}> {note}</span>}
    </span>
  );
  if (checked === undefined) {
    return (
      <Ariakit.MenuItem className={styles["item"]} onClick={onPress}>
        {icon !== undefined && <Icon name={icon} />}
        {text}
      </Ariakit.MenuItem>
    );
  }
  return (
    <Ariakit.MenuItem className={styles["item"]} role="menuitemradio" aria-checked={checked} onClick={onPress}>
      <span className={styles["check"]}>{checked && <Icon name="check" />}</span>
      {text}
    </Ariakit.MenuItem>
  );
}
