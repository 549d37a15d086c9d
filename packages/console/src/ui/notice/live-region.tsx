import { classNames } from "../class-names.ts";
import { useNotices } from "./announce.ts";
import styles from "./live-region.module.css";

/** The one polite live region of the page: what `announce` says. */
export function LiveRegion() {
  const notices = useNotices();
  return (
    <div className={styles["region"]} role="status" aria-live="polite">
      {notices.map(({ id, text, tone }) => (
        <div key={id} className={classNames(styles["notice"], tone === "bad" && styles["bad"])}>
          {text}
        </div>
      ))}
    </div>
  );
}
