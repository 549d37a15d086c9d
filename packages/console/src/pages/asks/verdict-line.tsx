import { classNames } from "../../ui/class-names.ts";
import { Icon } from "../../ui/icon.tsx";
import styles from "./answer-form.module.css";
import type { Verdict } from "./may-answer.ts";

/** Whether this seat may decide, and why. */
export function VerdictLine({ verdict: { ok, says } }: { verdict: Verdict }) {
  return (
    <p className={classNames(styles["verdict"], !ok && styles["refused"])}>
      <Icon name={ok ? "check" : "lock"} />
      <span>{says}</span>
    </p>
  );
}
