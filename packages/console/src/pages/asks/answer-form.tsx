import { type Ask, type Job, JobsService } from "@svc/gen/jobs";
import { useState } from "react";
import { useWrite } from "../../calls/write.ts";
import { seatFor, useSession } from "../../session/session.ts";
import { classNames } from "../../ui/class-names.ts";
import { Choice } from "../../ui/fields/choice.tsx";
import { AreaField, TextField } from "../../ui/fields/field.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Line, Stack } from "../../ui/layout/stack.tsx";
import { announce } from "../../ui/notice/announce.tsx";
import { FaultNotice } from "../../ui/notice/fault.tsx";
import { type AnswerKind, askPlace, continuations } from "../../words/continuations.ts";
import { useRefreshJob } from "../jobs/use-job.ts";
import { AnswerButton } from "./answer-button.tsx";
import styles from "./answer-form.module.css";
import { type AnswerVerdict, mayAnswer } from "./may-answer.ts";
import { type OverrideField, overrideFaults, overrideFields, overridesJson } from "./overrides.ts";
import { lastAnsweredAs, rememberAnswerAs, useContacts } from "./use-ask.ts";

/**
 * Draws the form that answers a pending question: the contact for whom the user answers, the answer, and a note. Above these fields, the
 * form shows if the user's key may answer.
 */
export function AnswerForm({ ask, job, projectId }: { ask: Ask; job: Job | undefined; projectId: string }) {
  const { jobId, requestId, deliveredPrincipals } = ask;
  const seat = seatFor(useSession(), projectId);
  const contacts = useContacts();
  const refresh = useRefreshJob(jobId);
  const remembered = lastAnsweredAs(projectId);
  const [chosen, setChosen] = useState(remembered);
  const [note, setNote] = useState("");
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [faults, setFaults] = useState<Record<string, string>>({});
  const principalId = deliveredPrincipals.find((id) => id === chosen) ?? deliveredPrincipals[0] ?? "";
  const contact = contacts.data?.contacts.find((one) => one.principalId === principalId);
  const fields = overrideFields(ask.answerSchemaJson);
  const place = askPlace({
    ...ask,
    rows: job?.park?.judgment?.requestId === requestId ? job.park.judgment.counts : undefined,
  });
  // The question is read again after a success and after a failure. If another person answered first, the page then shows who did.
  const answer = useWrite(JobsService.method.answerAsk, {
    onSettled: refresh,
    onSuccess: () => announce("Your answer is saved."),
  });
  if (seat === undefined) return null;
  const verdict = mayAnswer(ask, job, seat, contact ?? { principalId, approver: false });
  const why = verdict.ok ? undefined : verdict.says;
  const send = (continuation: AnswerKind) => {
    const wrong = continuation === "retry-with" ? overrideFaults(fields, typed) : {};
    setFaults(wrong);
    if (Object.keys(wrong).length > 0) return;
    const overrides = continuation === "retry-with" ? overridesJson(fields, typed) : "";
    answer.send({ jobId, requestId, principalId, continuation, overridesJson: overrides, note });
  };
  const inOrder = continuations.filter((continuation) => ask.continuations.includes(continuation));
  // For a confirmation, the answers are shown in reversed order. The first answer is then the one that svc uses if the question expires
  // without an answer.
  const offered = place === "confirm" ? inOrder.toReversed() : inOrder;
  return (
    <Stack>
      {deliveredPrincipals.length > 1 && (
        <Line>
          {" "}
          <Choice
            label="Answer as"
            value={principalId}
            options={deliveredPrincipals.map((id) => ({
              value: id,
              words: id,
              note: nameOf(id, contacts.data?.contacts),
            }))}
            onChange={(id) => {
              setChosen(id);
              rememberAnswerAs(projectId, id);
            }}
          />
        </Line>
      )}
      <VerdictLine verdict={verdict} />
      {offered.includes("retry-with") && fields.length > 0 && (
        <fieldset className={styles["changes"]}>
          <legend>Changes, for “Retry with changes”</legend>
          <OverridesForm fields={fields} typed={typed} faults={faults} onChange={setTyped} />
        </fieldset>
      )}
      <AreaField label="Note" value={note} onChange={setNote} hint="Optional. svc stores it with your answer." />
      <div className={styles["answers"]}>
        {offered.map((continuation) => (
          <AnswerButton
            key={continuation}
            continuation={continuation}
            place={place}
            why={why}
            destructive={place === "plan_approval" ? (job?.estimate?.destructiveMax ?? 0) : 0}
            busy={answer.isSending && answer.sent?.continuation === continuation}
            onPress={() => !answer.isSending && send(continuation)}
          />
        ))}
      </div>
      <FaultNotice error={answer.error} />
    </Stack>
  );
}

function nameOf(id: string, contacts: readonly { principalId: string; name: string }[] = []): string {
  return contacts.find(({ principalId }) => principalId === id)?.name ?? "";
}

/** Draws the text that says whether the user's key may answer, and why. */
function VerdictLine({ verdict: { ok, says } }: { verdict: AnswerVerdict }) {
  return (
    <p className={classNames(styles["verdict"], !ok && styles["refused"])}>
      <Icon name={ok ? "check" : "lock"} />
      <span>{says}</span>
    </p>
  );
}

/**
 * Draws the form for the values that a person changes with the answer `retry-with`. With this answer, the job tries the step again with the
 * changed values.
 */
function OverridesForm({
  fields,
  typed,
  faults,
  onChange,
}: {
  fields: readonly OverrideField[];
  typed: Readonly<Record<string, string>>;
  /** Errors in the typed values, by the name of the form field. Empty until the user tries to send the answer. */
  faults: Readonly<Record<string, string>>;
  onChange: (typed: Record<string, string>) => void;
}) {
  return (
    <Stack>
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={typed[field.name] ?? ""}
          fault={faults[field.name]}
          onChange={(value) => onChange({ ...typed, [field.name]: value })}
        />
      ))}
    </Stack>
  );
}

function Field({
  field: { name, kind, says, isRequired, choices },
  value,
  fault,
  onChange,
}: {
  field: OverrideField;
  value: string;
  fault: string | undefined;
  onChange: (value: string) => void;
}) {
  const hint = [says, isRequired ? "" : "Leave empty to keep the current value."].filter(Boolean).join(" ");
  if (kind === "choice" || kind === "boolean") {
    const values = kind === "boolean" ? ["true", "false"] : choices;
    const options = [{ value: "", words: "as it is" }, ...values.map((one) => ({ value: one, words: one }))];
    return <Choice label={name} value={value} options={options} onChange={onChange} />;
  }
  if (kind === "json")
    return <AreaField label={name} mono value={value} onChange={onChange} hint={hint || "JSON"} fault={fault} />;
  return (
    <TextField
      label={name}
      value={value}
      onChange={onChange}
      hint={hint}
      fault={fault}
      {...(kind === "number" && { inputMode: "decimal" as const })}
    />
  );
}
