import { classNames } from "../class-names.ts";
import styles from "./attempt-dots.module.css";

/** Largest number of dots of one row. Of more attempts, the latest are drawn. */
const dotsMax = 10;

/**
 * Draws the attempts of a delivery as a row of dots, earliest first: filled for an attempt that was made, open for the next one. A screen
 * reader gets a sentence. `isPending`: true if another attempt follows.
 */
export function AttemptDots({
  attempts,
  isPending,
}: {
  /** True for each attempt that succeeded. */
  attempts: readonly boolean[];
  isPending: boolean;
}) {
  const shown = attempts.slice(-dotsMax);
  return (
    <span className={styles["dots"]} role="img" aria-label={sentenceOf(attempts, isPending)}>
      {shown.length < attempts.length && <span className={styles["more"]}>+{attempts.length - shown.length}</span>}
      {shown.map((isOk, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an attempt has no other identity than its position
        <AttemptDot key={index} isOk={isOk} />
      ))}
      {isPending && <AttemptDot isOk={undefined} />}
    </span>
  );
}

/** Draws the dot of one attempt. `isOk`: true if the attempt succeeded, undefined if it is planned. Screen readers ignore the dot. */
export function AttemptDot({ isOk, isLarge = false }: { isOk: boolean | undefined; isLarge?: boolean }) {
  const state = isOk === undefined ? undefined : styles[isOk ? "ok" : "bad"];
  return <span className={classNames(styles["dot"], isLarge && styles["large"], state)} aria-hidden="true" />;
}

function sentenceOf(attempts: readonly boolean[], isPending: boolean): string {
  const failed = attempts.filter((isOk) => !isOk).length;
  const parts = [
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(failed === attempts.length ? [] : [`${attempts.length - failed} succeeded`]),
    ...(isPending ? ["1 planned"] : []),
  ];
  return parts.length === 0 ? "no attempts" : parts.join(", ");
}
