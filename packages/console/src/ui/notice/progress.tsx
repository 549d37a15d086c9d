import styles from "./progress.module.css";

/** A bar that shows progress from 0 to 1. The text next to the bar names what progresses. */
export function Progress({ label, value }: { label: string; value: number }) {
  const percent = Math.round(Math.min(1, Math.max(0, value)) * 100);
  return (
    <div
      className={styles["progress"]}
      role="progressbar"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <div className={styles["bar"]} style={{ width: `${percent}%` }} />
    </div>
  );
}
