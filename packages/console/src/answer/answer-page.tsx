import { useState } from "react";
import type { PageAnswer, Refusal } from "../session/page-post.ts";
import { Stack } from "../ui/layout/stack.tsx";
import { Notice } from "../ui/notice/notice.tsx";
import { readConfirmation } from "../words/confirmations.ts";
import { sentence } from "../words/sentence.ts";
import { visible } from "../words/visible.ts";
import styles from "./answer-page.module.css";
import type { Answer, Asked } from "./asked.ts";
import { changesFault } from "./changes-fault.ts";
import { QuestionForm } from "./question-form.tsx";
import { SettledNotice } from "./settled-notice.tsx";

/** The question; of a call that is to be confirmed, who made it and its arguments by themselves. */
function QuestionText({ question }: { question: string }) {
  const confirmed = readConfirmation(question);
  if (confirmed === undefined) return <p className={styles["question"]}>{visible(question)}</p>;
  return (
    <>
      <p className={styles["question"]}>{visible(confirmed.asks)}</p>
      <p>{visible(confirmed.asker)}</p>
      <section aria-label="Arguments">
        <pre className={styles["arguments"]}>{visible(confirmed.args)}</pre>
      </section>
    </>
  );
}

/** The question that the link is for, and the way to answer it; how it was settled once it is. */
export function AnswerPage({ first, send }: { first: Asked; send: (body: object) => Promise<PageAnswer> }) {
  const [asked, setAsked] = useState(first);
  const [refusal, setRefusal] = useState<Refusal>();
  const [isLate, setIsLate] = useState(false);
  const [isSending, setIsSending] = useState(false);
  const answer = async (given: Answer) => {
    setIsSending(true);
    setRefusal(undefined);
    const sent = await send(given);
    const isSettled = "refusal" in sent && sent.refusal.reason === "ASK_SETTLED";
    // Somebody else was first: the service then says who, and how.
    const shown = isSettled ? await send({}) : sent;
    setIsSending(false);
    setIsLate(isSettled);
    if ("answer" in shown) setAsked(shown.answer as Asked);
    else setRefusal(shown.refusal);
  };
  const wrong = refusal === undefined ? undefined : changesFault(refusal);
  const title = asked.contactName === "" ? "A question for you" : `A question for ${visible(asked.contactName)}`;
  return (
    <Stack>
      <title>{`${title} · svc`}</title>
      <h1>{title}</h1>
      {asked.state === "pending" ? (
        <>
          <QuestionText question={asked.question} />
          <QuestionForm asked={asked} wrong={wrong} onAnswer={(given) => void answer(given)} isSending={isSending} />
        </>
      ) : (
        <>
          {first.state === "pending" && <QuestionText question={first.question} />}
          <SettledNotice settled={asked} isLate={isLate} />
        </>
      )}
      {refusal !== undefined && <RefusalNotice refusal={refusal} isOfChanges={wrong !== undefined} />}
    </Stack>
  );
}

/** Why the answer was not taken. What is wrong with a field stands there, too, so that this only leads back to it. */
function RefusalNotice({ refusal: { message, help }, isOfChanges }: { refusal: Refusal; isOfChanges: boolean }) {
  const [title, says] = isOfChanges
    ? [
        "What you filled in does not fit.",
        "Your answer was not taken. Mend the field that is marked above, and send it again.",
      ]
    : [sentence(message), help];
  return (
    <div role="alert">
      <Notice tone="bad" title={title}>
        <p>{says}</p>
      </Notice>
    </div>
  );
}
