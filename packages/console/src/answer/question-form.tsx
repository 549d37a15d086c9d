import { type FormEvent, lazy, Suspense, useState } from "react";
import type { PlacedFaults } from "../form/faults.ts";
import type { Values } from "../form/value.ts";
import { PlainButton } from "../ui/buttons/plain-button.tsx";
import { AreaField } from "../ui/fields/field.tsx";
import { OptionsField } from "../ui/fields/options-field.tsx";
import { Stack } from "../ui/layout/stack.tsx";
import { Moment } from "../ui/values/moment.tsx";
import { clockSentence, linkedAnswerWords } from "../words/linked-answers.ts";
import styles from "./answer-page.module.css";
import type { Answer, Question } from "./asked.ts";

/** Loaded when an answer that changes something is chosen: most questions need none. */
const Changes = lazy(() => import("./changes.tsx"));

/** The answers to choose from, what `retry-with` changes, a note, and the button that sends it: what it sends stands before it. */
export function QuestionForm({
  asked,
  wrong,
  onAnswer,
  isSending,
}: {
  asked: Question;
  /** What was wrong with the changes that were sent last. */
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
        <AreaField label="Note (optional)" value={note} onChange={setNote} hint="It is kept with your answer." />
        <PlainButton
          kind="primary"
          type="submit"
          icon="send"
          busy={isSending ? "Sending" : undefined}
          why={chosen === undefined ? "Choose an answer first" : undefined}
        >
          {chosen === undefined ? "Send the answer" : `Send: ${linkedAnswerWords(chosen, asked.confirms).words}`}
        </PlainButton>
      </Stack>
    </form>
  );
}

const noFaults: PlacedFaults = new Map();

/** As they are offered; of a confirmation, what becomes of it without an answer comes first. */
function ordered({ continuations, confirms }: Question): readonly string[] {
  return confirms ? continuations.toReversed() : continuations;
}

function Clock({ asked: { deadlineAt, defaultContinuation, expiresAt, confirms } }: { asked: Question }) {
  return (
    <div className={styles["clock"]}>
      {deadlineAt !== "" && (
        <p>
          Due <Moment at={deadlineAt} />.
        </p>
      )}
      <p>{clockSentence(defaultContinuation, deadlineAt !== "", confirms)}</p>
      <p>
        This link ends with the question, <Moment at={expiresAt} /> at the latest.
      </p>
    </div>
  );
}
