import styles from "./switch.module.css";

/** Turns something on or off immediately. */
export function Switch({ label, on, onChange }: { label: string; on: boolean; onChange: (on: boolean) => void }) {
  return (
    <button type="button" role="switch" aria-checked={on} className={styles["switch"]} onClick={() => onChange(!on)}>
      <span className={styles["track"]} aria-hidden="true" />
      {label}
    </button>
  );
}
