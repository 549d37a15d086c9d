import { Button } from "../../ui/button.tsx";
import type { ButtonKind } from "../../ui/button-class.ts";
import { type AskPlace, type Continuation, continuationWords } from "../../words/continuations.ts";
import styles from "./answer-form.module.css";

/** One answer: its button, and what it does. */
export function AnswerButton({
  continuation,
  place,
  why,
  busy,
  onPress,
}: {
  continuation: Continuation;
  place: AskPlace;
  why: string | undefined;
  busy: boolean;
  onPress: () => void;
}) {
  const { title, does } = continuationWords(continuation, place);
  const kind = kindOf(continuation, place);
  return (
    <div className={styles["answer"]}>
      <Button kind={kind} why={why} busy={busy ? "Sending" : undefined} onPress={onPress}>
        {title}
      </Button>
      <span className={styles["does"]}>{does}</span>
    </div>
  );
}

/** What ends something is marked; where it is asked whether something may be done at all, that is what cannot be taken back. */
function kindOf(continuation: Continuation, place: AskPlace): ButtonKind {
  if (place === "confirm") return continuation === "proceed" ? "danger" : "plain";
  return continuation === "proceed" ? "primary" : continuation === "abort" ? "danger" : "plain";
}
