import styles from "./switch.module.css";

/** A switch that turns a setting on or off at once. */
export function Switch({ label, on, onChange }: { label: string; on: boolean; onChange: (on: boolean) => void }) {
  return (
    <button type="button" role="switch" aria-checked={on} className={styles["switch"]} onClick={() => onChange(!on)}>
      <span className={styles["track"]} aria-hidden="true" />
      {label}
    </button>
  );
}
