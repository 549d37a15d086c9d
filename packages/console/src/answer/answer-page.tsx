import { type FormEvent, Suspense, useEffect, useRef, useState } from "react";
import type { PlacedFaults } from "../form/faults.ts";
import type { Values } from "../form/value.ts";
import type { PageRefusal, PostAnswer } from "../session/page-post.ts";
import { Button } from "../ui/buttons/button.tsx";
import { AreaField } from "../ui/fields/field.tsx";
import { OptionsField } from "../ui/fields/options-field.tsx";
import { laterPart } from "../ui/later-part.tsx";
import { Stack } from "../ui/layout/stack.tsx";
import { Notice } from "../ui/notice/notice.tsx";
import { Moment } from "../ui/values/moment.tsx";
import { clockSentence, linkedAnswerWords, readConfirmation, settledSentence } from "../words/linked-answers.ts";
import { sentence, visible } from "../words/text.ts";
import styles from "./answer-page.module.css";
import type { LinkedAsk, LinkQuestion, SettledAsk } from "./asked.ts";
import { changesFault } from "./changes-fault.ts";

/** Body of the request with which the page sends an answer. */
type Answer = { continuation: string; overridesJson: string; note: string };

/**
 * The form for changed arguments. Its code is loaded only when the person chooses an answer that changes arguments, because most questions
 * do not need it.
 */
const Changes = laterPart(() => import("./changes.tsx"));

/**
 * Draws the form of a question: the answers to choose from, the fields that the answer `retry-with` changes, a note, and the button that
 * sends the answer. Above the button, the form shows what the button will send.
 */
function QuestionForm({
  asked,
  wrong,
  onAnswer,
  isSending,
}: {
  asked: LinkQuestion;
  /** Errors that the service found in the changed arguments that the person sent last. Undefined if it found none. */
  wrong: PlacedFaults | undefined;
  onAnswer: (answer: Answer) => void;
  isSending: boolean;
}) {
  const [chosen, setChosen] = useState<string>();
  const [values, setValues] = useState<Values>({});
  const [note, setNote] = useState("");
  const takesChanges = chosen === "retry-with" && asked.answerSchemaJson !== "";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (chosen === undefined || isSending) return;
    onAnswer({ continuation: chosen, overridesJson: takesChanges ? JSON.stringify(values) : "", note });
  };
  return (
    <form onSubmit={submit}>
      <Stack>
        <Clock asked={asked} />
        <OptionsField
          label="Your answer"
          value={chosen}
          options={ordered(asked).map((value) => ({ value, ...linkedAnswerWords(value, asked.confirms) }))}
          onChange={setChosen}
        />
        {takesChanges && (
          <Suspense fallback={<p>Loading the form…</p>}>
            <Changes
              schemaJson={asked.answerSchemaJson}
              values={values}
              faults={wrong ?? noFaults}
              onChange={setValues}
            />
          </Suspense>
        )}
        <AreaField label="Note (optional)" value={note} onChange={setNote} hint="svc stores it with your answer." />
        <Button
          kind="primary"
          type="submit"
          icon="send"
          busy={isSending ? "Sending" : undefined}
          why={chosen === undefined ? "Choose an answer first" : undefined}
        >
          {chosen === undefined ? "Send the answer" : `Send: ${linkedAnswerWords(chosen, asked.confirms).words}`}
        </Button>
      </Stack>
    </form>
  );
}

const noFaults: PlacedFaults = new Map();

/** Returns the answers in the order of the page's buttons. For a confirmation, this is the service's order reversed. */
function ordered({ continuations, confirms }: LinkQuestion): readonly string[] {
  // The first button is then the answer that svc applies if the question expires.
  return confirms ? continuations.toReversed() : continuations;
}

function Clock({ asked: { deadlineAt, defaultContinuation, expiresAt, confirms } }: { asked: LinkQuestion }) {
  return (
    <div className={styles["clock"]}>
      {deadlineAt !== "" && (
        <p>
          Due <Moment at={deadlineAt} />.
        </p>
      )}
      <p>{clockSentence(defaultContinuation, deadlineAt !== "", confirms)}</p>
      <p>
        The link works until the question is answered, <Moment at={expiresAt} /> at the latest.
      </p>
    </div>
  );
}

/** Draws the question. If the question confirms a call, its caller and its arguments are shown separately. */
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

/**
 * Draws the question that an answer link leads to, and the form that answers the question. If the question is already settled, draws the
 * decision.
 */
export function AnswerPage({ first, send }: { first: LinkedAsk; send: (body: object) => Promise<PostAnswer> }) {
  const [asked, setAsked] = useState(first);
  const [refusal, setRefusal] = useState<PageRefusal>();
  const [isLate, setIsLate] = useState(false);
  const [isSending, setIsSending] = useState(false);
  const answer = async (given: Answer) => {
    setIsSending(true);
    setRefusal(undefined);
    const sent = await send(given);
    const isSettled = "refusal" in sent && sent.refusal.reason === "ASK_SETTLED";
    // If another person answered first, posting an empty body returns the settled question, so that the page shows who answered, and how.
    const shown = isSettled ? await send({}) : sent;
    setIsSending(false);
    setIsLate(isSettled);
    if ("answer" in shown) setAsked(shown.answer as LinkedAsk);
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

/**
 * Draws the reason why the service refused an answer. An error about a field is shown at the field, so this notice only links to that
 * field.
 */
function RefusalNotice({ refusal: { message, help }, isOfChanges }: { refusal: PageRefusal; isOfChanges: boolean }) {
  const [title, says] = isOfChanges
    ? ["Your entries are not valid.", "Your answer was not accepted. Correct the marked field, and send it again."]
    : [sentence(message), help];
  return (
    <div role="alert">
      <Notice tone="bad" title={title}>
        <p>{says}</p>
      </Notice>
    </div>
  );
}

/**
 * Draws the decision on the question and its time. `isLate`: another answer arrived just before this one. The notice takes the focus,
 * because the button that had the focus is removed.
 */
function SettledNotice({
  settled: { state, decision, principalId, confirms },
  isLate,
}: {
  settled: SettledAsk;
  isLate: boolean;
}) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.focus(), []);
  const says = settledSentence(state, decision, principalId, confirms);
  const isOwn = decision?.principalId === principalId && !isLate;
  return (
    <div ref={place} tabIndex={-1} role="status">
      <Notice tone={isLate ? "warn" : isOwn ? "ok" : "info"} title={isLate ? `Too late: it is settled. ${says}` : says}>
        {decision !== undefined && (
          <p>
            Settled <Moment at={decision.at} />.
          </p>
        )}
        <p>{isLate ? "Your answer was not accepted. " : ""}Nothing is left to do here; this page can be closed.</p>
      </Notice>
    </div>
  );
}
