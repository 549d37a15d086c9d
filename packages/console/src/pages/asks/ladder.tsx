import { type Ask, AskState } from "@svc/gen/jobs";
import { useNow } from "../../clock.ts";
import { classNames } from "../../ui/class-names.ts";
import { Icon } from "../../ui/icon.tsx";
import { clockWords, ladderRungs } from "../../words/asks.ts";
import styles from "./ladder.module.css";

const icons = { past: "check", holds: "arrowRight", coming: "clock" } as const;

/** Who holds the question, who had it and who is next, with the countdown; and what the clock will do. */
export function Ladder({ ask }: { ask: Ask }) {
  const now = useNow();
  return (
    <>
      <ol className={styles["ladder"]}>
        {ladderRungs(ask, now).map(({ principalId, says, state }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a rung is its place
          <li key={index} className={classNames(styles["rung"], state === "holds" && styles["holds"])}>
            <Icon name={icons[state]} />
            <span>
              <b>{principalId}</b> {says}
            </span>
          </li>
        ))}
      </ol>
      {ask.state === AskState.PENDING && <p className={styles["clock"]}>{clockWords(ask)}</p>}
    </>
  );
}
