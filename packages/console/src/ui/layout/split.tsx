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
 * The panel next to a list that shows the row which the user opened. `link`: a link to the row's own page. The Escape key closes the panel,
 * also when the list has the focus.
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
