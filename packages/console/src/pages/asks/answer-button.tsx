import { useState } from "react";
import type { ButtonKind } from "../../ui/buttons/button.tsx";
import { Button } from "../../ui/buttons/button.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { type AnswerKind, type AskPlace, continuationWords } from "../../words/continuations.ts";
import styles from "./answer-form.module.css";

/**
 * Draws one answer: its button, and the effect of the answer. If approving allows destructive calls, the user must press a second button,
 * which names the number of those calls.
 */
export function AnswerButton({
  continuation,
  place,
  why,
  destructive,
  busy,
  onPress,
}: {
  continuation: AnswerKind;
  place: AskPlace;
  why: string | undefined;
  /** Maximum number of destructive calls that the job can make if the person approves. */
  destructive: number;
  busy: boolean;
  onPress: () => void;
}) {
  const { title, does } = continuationWords(continuation, place);
  const kind = kindOf(continuation, place);
  const [isAsked, setAsked] = useState(false);
  const asksFirst = continuation === "proceed" && destructive > 0;
  const calls = destructive === 1 ? "1 destructive call" : `${destructive.toLocaleString("en")} destructive calls`;
  const close = () => setAsked(false);
  return (
    <div className={styles["answer"]}>
      <Button
        kind={kind}
        why={why}
        busy={busy ? "Sending" : undefined}
        onPress={asksFirst ? () => setAsked(true) : onPress}
      >
        {title}
      </Button>
      <span className={styles["does"]}>{does}</span>
      {asksFirst && (
        <Dialog
          open={isAsked}
          onClose={close}
          title={`Approve up to ${calls}?`}
          actions={
            <>
              <Button onPress={close}>Cancel</Button>
              <Button
                kind="danger"
                onPress={() => {
                  close();
                  onPress();
                }}
              >
                Approve {calls}
              </Button>
            </>
          }
        >
          <p>The program sends them without another question. Deletes can't be undone.</p>
        </Dialog>
      )}
    </div>
  );
}

/**
 * Returns the style of an answer's button. An answer that ends the job has the style of a dangerous action. If the question asks for
 * permission, `proceed` has that style instead, because the permitted action cannot be undone.
 */
function kindOf(continuation: AnswerKind, place: AskPlace): ButtonKind {
  if (place === "confirm") return continuation === "proceed" ? "danger" : "plain";
  return continuation === "proceed" ? "primary" : continuation === "abort" ? "danger" : "plain";
}
