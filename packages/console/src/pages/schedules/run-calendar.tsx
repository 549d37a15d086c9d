import { classNames } from "../../ui/class-names.ts";
import styles from "./run-calendar.module.css";
import type { RunMonth } from "./run-days.ts";

/** Number of runs of a day up to which each has a dot of its own. */
const dotsMax = 3;

/**
 * Draws the calendar of the month of a schedule's next run, with a dot for each run. Screen readers skip the days, because a list next to it
 * has the times.
 */
export function RunCalendar({ month: { title, weeks, runs, isWhole } }: { month: RunMonth }) {
  const count = `${runs}${isWhole ? "" : " or more"} ${runs === 1 && isWhole ? "run" : "runs"}`;
  return (
    <figure className={styles["month"]}>
      <figcaption className={styles["head"]}>
        <b>{title}</b>
        <span className={styles["quiet"]}>{count}</span>
      </figcaption>
      <div className={styles["days"]} aria-hidden="true">
        {["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].map((name) => (
          <span key={name} className={styles["name"]}>
            {name}
          </span>
        ))}
        {weeks.flat().map((day) => (
          <span key={day.date} className={classNames(styles["day"], !day.isInMonth && styles["other"])}>
            {day.day}
            <span className={styles["dots"]}>
              {day.runs > dotsMax ? (
                <span className={styles["many"]}>{day.runs}</span>
              ) : (
                Array.from({ length: day.runs }, (_, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: the dots of a day are equal
                  <i key={index} />
                ))
              )}
            </span>
          </span>
        ))}
      </div>
    </figure>
  );
}
