import { type ReactNode, useId } from "react";
import { IconButton } from "../buttons/button.tsx";
import styles from "./split.module.css";

/** A list, and next to it the panel of the row that the user opened. */
export function Split({ list, panel }: { list: ReactNode; panel: ReactNode }) {
  return (
    <div className={styles["split"]}>
      {list}
      {panel}
    </div>
  );
}

/**
 * The panel of the row that the user opened in a list. `link`: leads to the row's page. The Escape key in the list also closes the panel.
 */
export function SidePanel({
  title,
  link,
  onClose,
  children,
}: {
  title: ReactNode;
  link: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section className={styles["panel"]} aria-labelledby={id}>
      <div className={styles["head"]}>
        <h2 id={id} className={styles["title"]}>
          {title}
        </h2>
        {link}
        <IconButton icon="cross" label="Close" onPress={onClose} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll this part */}
      <div className={styles["body"]} tabIndex={0}>
        {children}
      </div>
    </section>
  );
}
